"""A kernel to be tried: the launch, its arguments, what NumPy says, and the same as an array program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.api.kernels.kernel import Kernel
from tests.corpus.draw import Make

Extents = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A function that launches kernels, and the arguments that it is tried on.

    `function` returns the arrays that the kernels have written. `reference` returns the same in Python on
    NumPy. `is_program` says that the reference compiles as well, so that its derivatives are an oracle.
    `kernel` and `extents` are those of a launch from plain Python, which writes the arguments `writes`; a
    function that launches several has none. `refused` are words of the error that its derivatives end in.
    `kink` says why differences mean nothing. `is_ordered`: what is found follows from the order in which
    threads run, which is the same in compiled code and in the interpreter, save where it draws one.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Make, ...]
    reference: Callable[..., Any]
    is_program: bool = True
    kernel: Kernel | None = None
    extents: Extents = ()
    writes: tuple[int, ...] = ()
    refused: str = ""
    kink: str = ""
    is_ordered: bool = False
    rtol: float = 1e-6
    seed: int = 0

    def __str__(self) -> str:
        return self.name

    def draw(self) -> tuple[Any, ...]:
        """The arguments."""
        random = np.random.default_rng(self.seed)
        return tuple(make(random, 0) for make in self.arguments)

    def wanted(self, *args: Any) -> tuple[Any, ...]:
        """What the reference gives, as a tuple of arrays."""
        return in_tuple(self.reference(*args))


def in_tuple(found: Any) -> tuple[Any, ...]:
    """One array as a tuple of one."""
    return found if isinstance(found, tuple) else (found,)


def launched(kernel: Kernel, extents: Extents, writes: Sequence[int]) -> Callable[..., Any]:
    """A launch as a function: what the kernel writes are copies, and its results."""

    def program(*args: Any) -> Any:
        given = [np.copy(arg) if place in writes else arg for place, arg in enumerate(args)]
        kernel[extents](*given)
        return tuple([given[place] for place in writes])

    return program


def launch(
    kernel: Kernel,
    extents: Extents,
    arguments: Sequence[Make],
    reference: Callable[..., Any],
    *,
    writes: Sequence[int] | None = None,
    name: str = "",
    is_program: bool = True,
    **more: Any,
) -> Case:
    """A kernel under one launch configuration; it writes its last argument, where nothing is said."""
    places = (len(arguments) - 1,) if writes is None else tuple(writes)
    function = launched(kernel, extents, places)
    title = name or kernel.__name__
    return Case(title, function, tuple(arguments), reference, is_program, kernel, extents, places, **more)


def program(
    function: Callable[..., Any],
    arguments: Sequence[Make],
    reference: Callable[..., Any],
    *,
    is_program: bool = True,
    **more: Any,
) -> Case:
    """A function with several launches."""

    def results(*args: Any) -> Any:
        return in_tuple(function(*args))

    return Case(function.__name__, results, tuple(arguments), reference, is_program, **more)


def zeros(*shape: int, dtype: type = np.float64) -> Make:
    """An array of zeros."""
    return lambda random, size: np.zeros(shape, dtype)


def given(value: Any) -> Make:
    """This value; of an array a copy."""
    return lambda random, size: value.copy() if isinstance(value, np.ndarray) else value


def integers(*shape: int, low: int = 0, high: int = 10, dtype: type = np.int64) -> Make:
    """Random integers below `high`."""
    return lambda random, size: random.integers(low, high, size=shape).astype(dtype)


def single(make: Make) -> Make:
    """The same in single precision."""
    return lambda random, size: make(random, size).astype(np.float32)
