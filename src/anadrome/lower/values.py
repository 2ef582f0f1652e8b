"""What a variable of the array IR becomes: a scalar expression, a place in memory, or a promise.

A `Place` is a row-major run of elements. Places that may overlap belong to one tree of `Storage`:

* A storage is a region of one buffer. Its children are the parts of it that were handed out as
  destinations (the rows of a literal, the row of a stack), so that writing to a storage means looking at
  whoever names the storage, an ancestor of it or a descendant of it.
* `referrers` are the variables bound to a place in the region, but for some that nobody reads any more.
  Whether a region may be overwritten is one question: is any referrer of its tree still going to be read?
  (`memory.Liveness`)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from anadrome.array_ir import nodes as array_ir
from anadrome.dtypes import DType
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import (
    ONE,
    ZERO,
    add,
    at_least,
    compute,
    known,
    multiply,
    product,
    row_number,
)
from anadrome.kernel_ir.nodes import Buffer, Expr


@dataclass(slots=True, eq=False)
class Storage:
    """A region of a buffer that one value owns.

    `is_owned`: this call allocated it, or was given it, so it may be written. `is_whole`: it is all of its
    buffer, so the buffer may be exchanged with another (`Swap`) or handed to the caller. `is_pinned`: every
    version of the value is in this memory, which others see (a kernel's), so it cannot lie elsewhere.
    """

    buffer: Buffer
    is_owned: bool = True
    is_whole: bool = False
    is_pinned: bool = False
    parent: Storage | None = None
    referrers: list[array_ir.Var] = field(default_factory=list)
    children: list[Storage] = field(default_factory=list)

    def part(self) -> Storage:
        """A region inside this one that a value is about to own."""
        child = Storage(self.buffer, self.is_owned, False, self.is_pinned, self)
        self.children.append(child)
        return child

    @property
    def root(self) -> Storage:
        """The region of the whole tree."""
        top = self
        while top.parent is not None:
            top = top.parent
        return top

    def names(self) -> Iterator[array_ir.Var]:
        """The variables that see a part of this region, those of regions around it included."""
        above = self.parent
        while above is not None:
            yield from above.referrers
            above = above.parent
        yield from self._names_inside()

    def _names_inside(self) -> Iterator[array_ir.Var]:
        yield from self.referrers
        for child in self.children:
            yield from child._names_inside()


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A row-major array in memory: it begins `offset` elements into the row of its buffer at `prefix`, which
    is the whole buffer where that is empty."""

    storage: Storage
    offset: Expr
    shape: tuple[Expr, ...]
    prefix: tuple[Expr, ...] = ()

    @property
    def buffer(self) -> Buffer:
        """The buffer the elements are in."""
        return self.storage.buffer

    @property
    def dtype(self) -> DType:
        """The scalar type of the elements."""
        return self.storage.buffer.dtype

    @property
    def size(self) -> Expr:
        """How many elements there are."""
        return product(self.shape)

    @property
    def start(self) -> Expr:
        """How many elements of the buffer stand before it, in row-major order."""
        return row_offset(self.prefix, self.buffer.shape, self.offset)

    def at(self, offset: Expr = ZERO) -> tuple[Expr, ...]:
        """The indices in the buffer of the element that stands at this offset, in row-major order. Where the
        prefix leaves several dimensions that is how many elements stand before it, but in what must be named
        by all: kernels' arrays, and rows that lie side by side."""
        within = add(self.offset, offset)
        if self.buffer.strides or self.storage.is_pinned:
            return (*self.prefix, *unraveled(within, self._rest))
        if len(self._rest) > 1:
            return (add(self.start, offset),)
        return (*self.prefix, within) if self._rest else self.prefix

    @property
    def _rest(self) -> tuple[Expr, ...]:
        """The dimensions of the buffer that the prefix leaves."""
        return self.buffer.shape[len(self.prefix) :] if self.buffer.shape else (ONE,)

    def row(self, indices: tuple[Expr, ...]) -> Place:
        """The row at these indices, as a view of the same storage."""
        inner = self.shape[len(indices) :]
        if self.buffer.shape and known(self.offset) == 0 and same_all(self.shape, self._rest):
            return Place(self.storage, ZERO, inner, (*self.prefix, *indices))
        return Place(self.storage, row_offset(indices, self.shape, self.offset), inner, self.prefix)

    def rows(self, start: Expr, shape: tuple[Expr, ...]) -> Place:
        """A region of its own of this shape that begins with the row at `start`."""
        return Place(self.storage.part(), row_offset((start,), self.shape, self.offset), shape, self.prefix)

    def reshaped(self, shape: tuple[Expr, ...]) -> Place:
        """The same elements under another shape."""
        return Place(self.storage, self.offset, shape, self.prefix)

    def part(self) -> Place:
        """The same place as a region of its own, for a value about to be built there."""
        return Place(self.storage.part(), self.offset, self.shape, self.prefix)

    def is_at(self, other: Place) -> bool:
        """Whether both begin at the same element, as far as can be seen."""
        return self.buffer is other.buffer and same(self.start, other.start)


def row_offset(indices: tuple[Expr, ...], shape: tuple[Expr, ...], offset: Expr = ZERO) -> Expr:
    """Where the row at these indices of an array of this shape begins, counted in elements, behind an
    offset."""
    return add(offset, multiply(row_number(indices, shape), product(shape[len(indices) :])))


def unraveled(offset: Expr, shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The indices of the element that stands at an offset of an array of this shape."""
    if len(shape) < 2:
        return (offset,) * len(shape)
    below = product(shape[1:])
    return (compute("truncdiv", offset, below), *unraveled(compute("mod", offset, below), shape[1:]))


def same_all(left: tuple[Expr, ...], right: tuple[Expr, ...]) -> bool:
    """Whether expressions are surely the same numbers, one by one."""
    return len(left) == len(right) and all(map(same, left, right))


def same(left: Expr, right: Expr) -> bool:
    """Whether two expressions are surely the same number: the same variables, combined in the same way."""
    match left, right:
        case (kernel_ir.Const(value=first), kernel_ir.Const(value=second)):
            return first == second
        case (kernel_ir.Compute(prim=first_prim, args=first_args), kernel_ir.Compute(prim=prim, args=args)):
            return first_prim is prim and all(
                same(one, other) for one, other in zip(first_args, args, strict=True)
            )
        case _:
            return left is right


def dimensions(shape: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The dimensions of a buffer for an array of this shape: none of a run of elements."""
    return shape if len(shape) > 1 else ()


ROOM = 4096
"""An empty buffer has room for constant sizes of at most this."""


def capacity(shape: tuple[Expr, ...]) -> Expr:
    """How many elements a buffer of this shape is given: at least those that are read of an empty one.

    Lanes of a loop look at a failed check when all of them have made it. Until then element 0 is read, or
    what constant indices name, or a row of constant sizes.
    """
    constants = (int(size.value) for size in shape if isinstance(size, kernel_ir.Const))
    return at_least(prod(size for size in constants if 0 < size <= ROOM), product(shape))


@dataclass(frozen=True, slots=True, eq=False)
class Splat:
    """An array of one value everywhere that is not in memory yet: it is written where it is needed, but for
    a room, of which nothing is read before."""

    value: Expr
    shape: tuple[Expr, ...]
    is_room: bool = False


class Delivered:
    """An array that was combined into its destination while it was computed; nobody else reads it."""


Value = Expr | Place | Splat | Delivered


@dataclass(frozen=True, slots=True, eq=False)
class Destination:
    """Where a value is wanted: written there, or combined into what is there by a named operator.

    `replaced`: the place is part of this array, which nobody reads any more until it is replaced there.
    """

    place: Place
    operator: str | None = None
    replaced: array_ir.Var | None = None
