"""Kernels: `@ad.kernel`, and what a launch of one is: a compiled program from plain Python, a part of the
program inside a compiled function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.api.call import Compiled, Found, Options, options_of
from anadrome.api.kernels.launches import Extents, Wishes, extents_of, plain_extents, stage_launch
from anadrome.api.pytree import flatten, unflatten
from anadrome.api.signature import argument_names, parameter_names
from anadrome.config import Config
from anadrome.errors.api import SettingMismatch
from anadrome.errors.kernels_launch import (
    SHARED_BYTES,
    LaunchNeeded,
    SameArrayTwice,
    UnsuitableOutput,
)
from anadrome.errors.tracebacks import door
from anadrome.frontend.context import Context
from anadrome.frontend.values import Array, Cell, Value
from anadrome.frontend.verbs import Verb

EXTENTS = 7
"""The leaves of the extents of a launch: grid, block, bytes of shared memory."""


@Verb
def kernel(
    function: Callable[..., None] | None = None,
    *,
    checks: bool = True,
    shared_limit: int = SHARED_BYTES,
    out: str | Sequence[str] | None = None,
    config: Config | None = None,
) -> Any:
    """A kernel: a function that every thread of a launch runs, `k[blocks, threads](…)`, as in `numba.cuda`.

    `blocks` and `threads` are integers or tuples of up to three. A third part of the brackets, the stream, is
    ignored; a fourth is the bytes of dynamic shared memory. Arguments are numbers, NumPy arrays, and tuples,
    lists and dicts of them. The kernel returns nothing and writes into arrays: launched from plain Python
    into those it is given, inside a compiled function into arrays that were made there. docs/kernels.md says
    what a kernel may do.

    Indices are checked unless `checks` is False. `shared_limit` are the bytes of shared memory that a block
    may use. `out` names the arguments that may be written, which are otherwise found in the text.

    Raises `LaunchSize` for a grid or block that is too small or too large, `SharedTooLarge`, `SameArrayTwice`
    and `UnsuitableOutput` before anything runs, and `IndexOutOfBounds` with the line of an index outside of
    its array; then no array is changed.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def axpy(a, x, y):
    ...     i = ad.grid(1)
    ...     if i < len(y):
    ...         y[i] += a * x[i]
    >>> x, y = np.arange(5.0), np.ones(5)
    >>> axpy[2, 4](10.0, x, y)
    >>> y
    array([ 1., 11., 21., 31., 41.])
    """
    if type(shared_limit) is not int or shared_limit < 0:
        help = "the bytes that a block of the device has: `shared_limit=96 * 1024`"
        raise SettingMismatch("kernel", "shared_limit", "a number of bytes", shared_limit, help)
    if function is None:
        return functools.partial(kernel, checks=checks, shared_limit=shared_limit, out=out, config=config)
    names = (out,) if isinstance(out, str) else out
    own = parameter_names(function)
    for name in names or ():
        if name not in own:
            help = f"the parameters are {', '.join(own)}"
            raise SettingMismatch("kernel", "out", "names of parameters", out, help)
    wishes = Wishes(checks, shared_limit, None if names is None else tuple(names))
    return Kernel(function, wishes, options_of(function) if config is None else Options(config))


class Kernel:
    """A function under `@ad.kernel`. `python` is the function itself, which no plain Python runs."""

    def __init__(self, function: Callable[..., None], wishes: Wishes, options: Options) -> None:
        self.python = function
        self.wishes = wishes
        self._options = options
        self._program: LaunchProgram | None = None
        functools.update_wrapper(self, function, updated=())

    @property
    def launched(self) -> LaunchProgram:
        """What a launch from plain Python runs, made when it is first asked for."""
        if self._program is None:
            self._program = LaunchProgram(self, self._options)
        return self._program

    def __repr__(self) -> str:
        return f"kernel({getattr(self.python, '__qualname__', self.python)!s})"

    @door
    def __getitem__(self, configuration: object) -> Launcher:
        """The kernel with a launch configuration, to be called on arguments."""
        return Launcher(self, plain_extents(self.__name__, configuration))

    @door
    def __call__(self, *args: object, **kwargs: object) -> None:
        """A kernel is launched, and not called: raises `LaunchNeeded`."""
        raise LaunchNeeded(self.__name__)

    __name__: str

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """Inside a compiled function too."""
        raise LaunchNeeded(self.__name__).at(context.span)

    def __anadrome_item__(self, context: Context, index: Value) -> Value:
        """The same in a program that is being staged, where extents may be known at run time."""
        return Launcher(self, extents_of(context, self.__name__, index))


@dataclass(frozen=True, slots=True, eq=False)
class Launcher:
    """A kernel with its launch configuration."""

    kernel: Kernel
    extents: Extents

    @door
    def __call__(self, *args: object, **kwargs: object) -> None:
        """Launch it from plain Python."""
        self.kernel.launched(self.extents, *args, **kwargs)  # type: ignore[operator]

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """Launch it in the program that is being staged."""
        found = stage_launch(context, self.kernel, self.extents, args, kwargs)
        found.write(context)
        return None


# ---------------------------------------------------------------------------- launches from plain Python
class LaunchProgram(Compiled):
    """A launch as a compiled function of the extents and the arguments: of each leaf it gives what the kernel
    leaves there, None where it writes nothing. Arguments are read, and written when all is done."""

    def __init__(self, kernel: Kernel, options: Options) -> None:
        self.kernel = kernel
        super().__init__("launch", _Signed(kernel.python), _launch_rule(kernel), options)

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch, then write back."""
        found = Compiled.__call__(self, *args, **kwargs)
        leaves = flatten((args, kwargs))[0][EXTENTS:]
        for leaf, result in zip(leaves, found, strict=True):
            if result is not None:
                leaf[...] = result

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Found:
        """The program for a launch; refuses arrays that it could not write."""
        return self._checked(super().program(args, kwargs), args, kwargs)

    def at_once(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Found | None:
        """The program that a launch of this form has run before."""
        found = super().at_once(args, kwargs)
        return None if found is None else self._checked(found, args, kwargs)

    def _checked(self, found: Found, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Found:
        program, leaves, _ = found
        marks: Any = program.rebuild(iter([True] * (len(leaves) - EXTENTS)))
        written = [place for place, mark in enumerate(marks) if mark is not None]

        def name_of(place: int) -> str:
            return argument_names(flatten((args, kwargs))[1], parameter_names(self))[EXTENTS + place]

        _check_outputs(self.kernel.__name__, leaves[EXTENTS:], name_of, written)
        return found


class _Signed:
    """The function of a kernel with its extents before its parameters."""

    def __init__(self, function: Callable[..., None]) -> None:
        functools.update_wrapper(self, function, updated=())
        extents = inspect.Parameter("extents", inspect.Parameter.POSITIONAL_ONLY)
        own = inspect.signature(function).parameters.values()
        self.__signature__ = inspect.Signature([extents, *own])

    def __call__(self, *_: object) -> None:
        """Nobody calls it: the rule of `LaunchProgram` stands for it."""
        raise AssertionError("a kernel is launched")


def _launch_rule(kernel: Kernel) -> Callable[..., Value]:
    """What a launch from plain Python does in its program: arguments are copies there."""

    def rule(context: Context, _: object, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        extents, *rest = args
        leaves, structure = flatten((tuple(rest), dict(kwargs)))
        copies = [_copied(context, leaf) for leaf in leaves]
        given, named = unflatten(structure, copies)
        assert isinstance(extents, Extents)
        found = stage_launch(context, kernel, extents, given, named).results(context)
        return tuple(found.get(id(copy)) for copy in copies)

    return rule


def _copied(context: Context, leaf: Value) -> Value:
    """An array of the caller's as one of the program's own, which may have another value."""
    if not isinstance(leaf, Array):
        return leaf
    return Array(Cell(context.read(leaf), context.scope))


def _check_outputs(
    kernel: str, leaves: Sequence[Any], name_of: Callable[[int], str], written: Sequence[int]
) -> None:
    for place in written:
        leaf = leaves[place]
        base = leaf.base if isinstance(leaf.base, np.ndarray) else leaf
        is_part = base.dtype.kind == "c" and base.shape == leaf.shape  # of complex numbers: real or imaginary
        whole = base if is_part else leaf
        if not leaf.flags.writeable:
            raise UnsuitableOutput(kernel, name_of(place), "read-only")
        if not whole.flags.c_contiguous:
            raise UnsuitableOutput(kernel, name_of(place), "not contiguous")
        for other, found in enumerate(leaves):
            if other != place and isinstance(found, np.ndarray) and _overlap(leaf, found):
                raise SameArrayTwice(kernel, name_of(place), name_of(other))


def _overlap(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether two arrays have an element in common; taken to be so where that is hard to say."""
    try:
        return np.shares_memory(one, two, max_work=MOST_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


MOST_WORK = 100_000
"""How many candidates are looked at."""
