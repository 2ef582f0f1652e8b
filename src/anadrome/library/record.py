"""What the table says of one library operation: operands, sizes, failure, cost, algebra, meaning on NumPy.

Everything else that a layer has for an operation is found by its name in a literal table of that layer: the
derivative rules in `ad.library.table`, the machine code in `targets.llvm_calls`. The types of a call, its
lowering, its routine, its work and its sparsity pattern follow from the record alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from anadrome.dtypes import BY_NAME, F32, F64, DType

Array = npt.NDArray[Any]
Size = TypeVar("Size")
Item = TypeVar("Item")
Attributes = Sequence[bool | int]

BATCH = "batch"
"""The size that the leading dimensions of a batched operation have together."""
ROOM = "room"
"""The name of an argument of which only the length counts: that of a result which nothing else says."""


class NoResult(Exception):
    """An operation has no result for these arguments; `status` is what its routine reports, never 0."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument or a result: its name and the names of its sizes."""

    name: str
    sizes: tuple[str, ...]
    dtype: DType | None = None
    """Its element type, where that is not the type of the call."""
    is_batched: bool = False
    """Whether any number of leading dimensions stand before the named ones."""

    @property
    def is_read(self) -> bool:
        """Whether its elements are read."""
        return self.name != ROOM


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments and results of an operation."""

    arguments: tuple[Operand, ...]
    results: tuple[Operand, ...]


def signature(text: str) -> Signature:
    """The signature that is written as `left[n, m], right[m] -> out[n]`.

    An element type stands behind a colon where it is not that of the call: `out[n]:i64`. `...` stands for any
    number of leading dimensions, the same for all operands that have them.

    >>> signature("values[n] -> places[n]:i64").results
    (Operand(name='places', sizes=('n',), dtype=i64, is_batched=False),)
    """
    arguments, results = text.split("->")
    return Signature(_operands(arguments), _operands(results))


def _operands(text: str) -> tuple[Operand, ...]:
    found = []
    for name, inside, dtype in re.findall(r"(\w+)(?:\[([^\]]*)\])?(?::(\w+))?", text):
        sizes = tuple(size.strip() for size in inside.split(",") if size.strip())
        is_batched = sizes[:1] == ("...",)
        own = BY_NAME[dtype] if dtype else None
        found.append(Operand(name, sizes[is_batched:], own, is_batched))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class LibraryOperation:
    """One library operation: a row of the table.

    Every operation is pure: it gives the same results for the same arguments and does nothing else. No result
    shares memory with an argument. Arguments of a call are arrays in row-major order, of the element
    type of the call, which is that of the first, or of their own.
    """

    name: str
    signature: Signature
    numpy: Callable[..., Any]
    """Its meaning: (arguments, …, attributes, …) -> the result or a tuple of results; of `room` the length is
    given. Raises `NoResult` where there is none."""
    work: Callable[..., float]
    """(size, …) by their names -> scalar operations of the usual algorithm."""
    sample: Callable[[np.random.Generator], tuple[Array, ...]]
    """Arguments for tests, of small sizes: the operation is smooth around them, and well conditioned."""
    attributes: tuple[str, ...] = ()
    """Constants of the call. `transpose_x`: the argument x holds its transpose."""
    failure: str = ""
    """What is said where there is no result; nothing where there is one for every argument."""
    error: str = "singular"
    """The kind of that failure, as in `errors.runtime.FAILURES`."""
    linear: tuple[str, ...] = ()
    """Groups of arguments in each of which the results are linear, the other arguments being constant."""
    apart: str = ""
    """Sizes along which an element of a result depends only on elements of arguments at the same place."""
    triangle: tuple[str, ...] = ()
    """Square arguments of which one triangle is read: the upper one where the attribute `lower` is false."""
    plain: Literal["product"] | None = None
    """What the operation is in plain code, which passes and lowering write for small sizes."""
    routine: str = ""
    """The name of its routine, where that is another."""
    order: str = ""
    """The order in which the routine takes the sizes, where it is not that of the signature."""
    is_adding: bool = False
    """Whether the routine can add to its result, as its last flag says."""
    types: tuple[DType, ...] = (F32, F64)
    """The element types for which there is a routine."""

    def __repr__(self) -> str:
        return self.name

    # ------------------------------------------------------------------ operands
    @property
    def arguments(self) -> tuple[Operand, ...]:
        """The arguments, in order."""
        return self.signature.arguments

    @property
    def results(self) -> tuple[Operand, ...]:
        """The results, in order."""
        return self.signature.results

    def read(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Of one item for each argument those of the arguments whose elements are read."""
        return tuple(item for argument, item in zip(self.arguments, items, strict=True) if argument.is_read)

    # ------------------------------------------------------------------ facts that follow from others
    @property
    def is_total(self) -> bool:
        """Whether there is a result for every argument, so that a call may run where it is not asked for."""
        return not self.failure

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names in each group of `linear`."""
        return tuple(tuple(group.split()) for group in self.linear)

    @property
    def is_multilinear(self) -> bool:
        """Whether every argument that is read stands in a group of `linear`."""
        names = {name for group in self.groups for name in group}
        return bool(names) and names.issuperset(argument.name for argument in self.read(self.arguments))

    @property
    def has_derivative(self) -> bool:
        """Whether results are floats, which have derivatives by the floats that are read."""
        return any(result.dtype is None for result in self.results)

    @property
    def routine_name(self) -> str:
        """The name of the routine, without its element type."""
        return self.routine or self.name

    # ------------------------------------------------------------------ sizes
    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes, in the order in which the routine takes them."""
        operands = (*self.arguments, *self.results)
        named = dict.fromkeys(size for operand in operands for size in operand.sizes)
        batched = (BATCH,) if any(operand.is_batched for operand in operands) else ()
        return (*batched, *(self.order.split() or named))

    def is_turned(self, argument: Operand, attributes: Attributes) -> bool:
        """Whether an argument holds its transpose."""
        name = f"transpose_{argument.name}"
        return name in self.attributes and bool(attributes[self.attributes.index(name)])

    def named_sizes(self, argument: Operand, attributes: Attributes) -> tuple[str, ...]:
        """The names of the sizes of an argument as it is held."""
        return argument.sizes[::-1] if self.is_turned(argument, attributes) else argument.sizes

    def measured(self, shapes: Sequence[Sequence[Size]], attributes: Attributes) -> dict[str, Size]:
        """The named sizes, from the shapes of the arguments; each where it stands first."""
        found: dict[str, Size] = {}
        for argument, shape in zip(self.arguments, shapes, strict=True):
            names = self.named_sizes(argument, attributes)
            for name, size in zip(names, shape[len(shape) - len(names) :], strict=True):
                found.setdefault(name, size)
        return found

    def batch(self, shapes: Sequence[Sequence[Size]]) -> tuple[Size, ...]:
        """The leading dimensions of batched arguments."""
        for argument, shape in zip(self.arguments, shapes, strict=True):
            if argument.is_batched:
                return tuple(shape[: len(shape) - len(argument.sizes)])
        return ()

    def reads_lower(self, attributes: Attributes) -> bool:
        """Which triangle is read of the arguments in `triangle`."""
        return "lower" not in self.attributes or bool(attributes[self.attributes.index("lower")])

    # ------------------------------------------------------------------ running
    def run(self, args: Sequence[Array], attributes: Attributes) -> tuple[Array, ...]:
        """The results on NumPy. Raises `NoResult` where there are none."""
        given = [
            array if argument.is_read else len(array)
            for argument, array in zip(self.arguments, args, strict=True)
        ]
        found = self.numpy(*given, *attributes)
        return found if isinstance(found, tuple) else (found,)

    def operations(self, shapes: Sequence[Sequence[int]], attributes: Attributes) -> int:
        """How many scalar operations a call on arguments of these shapes counts as."""
        sizes: Mapping[str, int] = self.measured(shapes, attributes)
        times = int(np.prod(self.batch(shapes), dtype=np.int64))
        return round(times * self.work(**{name: sizes[name] for name in self.sizes if name != BATCH}))
