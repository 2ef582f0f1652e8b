"""Arrays that a run-time loop carries with another size in each iteration: a buffer and a length.

    V = x*1.0                        B, n = x*1.0, len(x)
    while len(V) > 1:                while n > 1:
        V = 0.5*(V[:-1] + V[1:])         V = B[:n];  W = 0.5*(V[:-1] + V[1:]);  B[:len(W)] = W;  n = len(W)
                                     V = B[:n]

An iteration copies the rows that there are, never the whole buffer. That a size changes is seen at the end of
an iteration. The loop is then staged with a length that nothing is known of, which shows how the new size is
computed from the old one, and so how much room the buffer needs; then once more, with the buffer. A length
that grows or shrinks by the same number in every iteration is not carried: it is start + step·i.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Size, Var, i64
from anadrome.dtypes import I64, DType
from anadrome.frontend.arrays import atom
from anadrome.frontend.carried import AxisKey, Key
from anadrome.frontend.context import Context
from anadrome.frontend.drawing import check_tried, tried_room
from anadrome.frontend.loop_plan import Part
from anadrome.frontend.restarts import TO_TRY, TRIES_ROOMS, RestartResized, Room
from anadrome.frontend.rooms import (
    ceilings,
    differ,
    first_rows,
    is_outside,
    larger,
    largest,
    put_rows,
    sources,
    widened,
)
from anadrome.frontend.sizes import agree, is_at_most, is_same_size
from anadrome.frontend.values import CONTINUE, NEXT, Array, Cell, Exit, Scope


@dataclass(slots=True, eq=False)
class Axis:
    """A dimension that has a length of its own in each iteration: in the body, before the loop, at the end of
    an iteration, and after the loop. Until its room is known the loop is not emitted."""

    room: Room | None
    length: Size
    start: Size
    end: Size | None = None
    after: Size | None = None

    @property
    def is_carried(self) -> bool:
        """Whether the length is a carried value."""
        return self.room is None or self.room.step is None


@dataclass(slots=True, eq=False)
class Resized:
    """One carried array some dimensions of which have lengths of their own. The parts of a complex array
    share those of the first (`leader`). `first` is the array at the start of the body."""

    leader: Resized | None
    axes: dict[int, Axis]
    buffer: Var
    first: Var
    cell: Cell

    @property
    def is_open(self) -> bool:
        """Whether it is not known yet how much room the array needs: it is carried as it is then."""
        return any(axis.room is None for axis in self.axes.values())

    @property
    def shape(self) -> tuple[Size, ...]:
        """The dimensions in the body."""
        return self.first.type.shape

    def read(self, builder: Builder, buffer: Var, lengths: dict[int, Size]) -> Var:
        """The array that a buffer holds."""
        return _unpacked(builder, buffer, self.shape, lengths)


def _unpacked(builder: Builder, buffer: Var, shape: Sequence[Size], lengths: dict[int, Size]) -> Var:
    """The array with these lengths that a buffer holds: its first rows, or its first elements, where another
    dimension than the first changes."""
    if lengths.keys() == {0}:
        return first_rows(builder, buffer, lengths[0])
    sizes = tuple(lengths.get(axis, size) for axis, size in enumerate(shape))
    return builder.reshape(first_rows(builder, buffer, _product(builder, sizes)), sizes)


def _packed(builder: Builder, var: Var, axes: Iterable[int]) -> Var:
    """An array as a buffer holds it."""
    return var if set(axes) == {0} else builder.reshape(var, (_product(builder, var.type.shape),))


def _product(builder: Builder, sizes: Sequence[Size]) -> Size:
    total: Size = i64(1)
    for size in sizes:
        total = builder.size("mul", total, size)
    return total


def with_tried(context: Context, rooms: Mapping[AxisKey, Room | None]) -> dict[AxisKey, Room | None]:
    """The rooms of a loop before it begins, those that are to be tried beside what there is."""
    found = dict(rooms)
    for key, room in rooms.items():
        if room is not None and room.tried == TO_TRY:
            number, more = tried_room(context)
            found[key] = Room(context.builder.size("add", room.size, more), None, number)
    return found


def begins(context: Context, scope: Scope, before: Size, after: Size) -> bool:
    """Whether the size after an iteration says that an array changes its size: not where one size may only
    have two names, which the run compares."""
    if is_same_size(context, before, after):
        return False
    is_computed = isinstance(before, Var) and before in sources(context, after)
    return is_computed or not is_outside(scope, after) or differ(context, before, after)


@dataclass(slots=True, eq=False)
class Resizing:
    """The arrays that one attempt at staging a loop carries so."""

    context: Context
    scope: Scope
    trip: Size | None
    index: Var
    rooms: dict[AxisKey, Room | None]
    arrays: dict[Key, Resized] = field(default_factory=dict)

    @property
    def _outer(self) -> Scope:
        assert self.scope.parent is not None
        return self.scope.parent

    @property
    def _own(self) -> dict[AxisKey, Axis]:
        """The dimensions, each once."""
        return {
            (*key, number): axis
            for key, one in self.arrays.items()
            if one.leader is None
            for number, axis in one.axes.items()
        }

    # ------------------------------------------------------------------ before and at the start
    def axes_of(self, leader: Key, leaf: Array) -> list[int]:
        """The dimensions of a carried array that change."""
        return [axis for axis in range(len(leaf.shape)) if (*leader, axis) in self.rooms]

    def carry(self, key: Key, leader: Key, name: str, leaf: Array, dtype: DType) -> tuple[Var, Atom, Cell]:
        """The variable that is carried, its start before the loop, and the cell of the array in the body."""
        context, first = self.context, self.arrays.get(leader)
        axes = self._axes(leader, leaf) if first is None else first.axes
        lengths = {number: axis.length for number, axis in axes.items()}
        shape = tuple(lengths.get(number, size) for number, size in enumerate(leaf.shape))
        rooms = {number: axis.room.size for number, axis in axes.items() if axis.room is not None}
        type_ = ArrayType(dtype, shape)
        with context.reopened(self._outer):
            held = atom(context, leaf, dtype)
            assert isinstance(held, Var)
            if len(rooms) == len(axes):
                full = tuple(rooms.get(number, size) for number, size in enumerate(leaf.shape))
                full = full if axes.keys() == {0} else (_product(context.builder, full),)
                type_ = ArrayType(dtype, full)
                held = widened(context.builder, _packed(context.builder, held, axes), type_)
        buffer = Var(name, type_)
        self.scope.builder.bind(buffer)
        is_open = len(rooms) < len(axes)
        var = buffer if is_open else _unpacked(context.builder, buffer, shape, lengths)
        cell = Cell(var, self.scope)
        self.arrays[key] = Resized(first, axes, buffer, var, cell)
        return buffer, held, cell

    def _axes(self, leader: Key, leaf: Array) -> dict[int, Axis]:
        found: dict[int, Axis] = {}
        for number in self.axes_of(leader, leaf):
            room, start = self.rooms[(*leader, number)], leaf.shape[number]
            found[number] = Axis(room, self._length(start, room), start)
        return found

    def _length(self, start: Size, room: Room | None) -> Size:
        builder = self.context.builder
        if room is not None and room.step is not None:
            return builder.size("add", start, builder.size("mul", i64(room.step), self.index))
        length = Var("size", ArrayType(I64))
        self.scope.builder.bind(length)
        self.context.nonnegative.add(length)
        if room is not None:
            self.context.most[length] = (builder.affine(room.size),)
        return length

    @property
    def variables(self) -> list[Var]:
        """The lengths that are carried."""
        return [
            axis.length for axis in self._own.values() if axis.is_carried and isinstance(axis.length, Var)
        ]

    def enter_condition(self) -> None:
        """Let the arrays be what they are where the condition of a loop is evaluated."""
        for one in self.arrays.values():
            if not one.is_open:
                lengths = {number: axis.length for number, axis in one.axes.items()}
                one.cell.var = one.read(self.context.builder, one.buffer, lengths)

    def leave_condition(self) -> None:
        """Let the arrays be what they are at the start of the body."""
        for one in self.arrays.values():
            one.cell.var = one.first

    # ------------------------------------------------------------------ at the end and after
    def end(self, key: Key, rows: Var) -> Var:
        """The carried value after an iteration that ends with this array."""
        one, builder = self.arrays[key], self.context.builder
        for number, axis in one.axes.items():
            end = rows.type.shape[number]
            if one.leader is not None:
                assert axis.end is not None
                agree(self.context, axis.end, end, "the parts of a complex array")
            axis.end = end
            if axis.room is not None and axis.room.tried is not None:
                check_tried(self.context, end, axis.room.size, axis.room.tried)
            if axis.room is not None and axis.room.step is not None:
                after = builder.size("add", axis.length, i64(axis.room.step))
                if not is_same_size(self.context, end, after):
                    raise RestartResized(self.scope, {(*key, number): Room(axis.room.size)})
        if one.is_open:
            return rows
        return (
            one.buffer
            if rows is one.first
            else put_rows(builder, one.buffer, _packed(builder, rows, one.axes), i64(0))
        )

    def part(self) -> Part:
        """The lengths as a part of the loop, which is settled before the arrays are."""
        own = [axis for axis in self._own.values() if axis.is_carried]
        ends: list[Atom] = [axis.start if axis.end is None else axis.end for axis in own]
        return Part(self.variables, [axis.start for axis in own], ends, self._settle)

    def _settle(self, results: list[Atom]) -> None:
        """Take the lengths after the loop."""
        builder, found = self.context.builder, iter(results)
        for axis in self._own.values():
            assert axis.room is not None
            if axis.room.step is not None:
                assert self.trip is not None
                grown = builder.size("mul", i64(axis.room.step), self.trip)
                axis.after = builder.size("add", axis.start, grown)
                continue
            after = next(found)
            assert isinstance(after, Var)
            self.context.nonnegative.add(after)
            self.context.most[after] = (builder.affine(axis.room.size),)
            axis.after = after

    def result(self, key: Key, found: Atom) -> Atom:
        """What is carried after the loop: the array that its buffer holds."""
        one = self.arrays.get(key)
        if one is None:
            return found
        assert isinstance(found, Var)
        lengths = {number: axis.after for number, axis in one.axes.items() if axis.after is not None}
        return one.read(self.context.builder, found, lengths)

    # ------------------------------------------------------------------ room
    def find_room(self, exit_: Exit) -> list[AxisKey]:
        """Find the room of the arrays of which it is not known: stages the loop again where one is found,
        else those that are left."""
        left = {key: axis for key, axis in self._own.items() if axis.room is None}
        found = {key: room for key, axis in left.items() if (room := self._room([axis], exit_)) is not None}
        if not found and len(left) > 1 and (joint := self._room(list(left.values()), exit_)) is not None:
            found = dict.fromkeys(left, joint)
        if found:
            raise RestartResized(self.scope, found)
        if TRIES_ROOMS in self.context.grown and left:
            tried = {key: Room(axis.start, tried=TO_TRY) for key, axis in left.items()}
            raise RestartResized(self.scope, tried)
        return list(left)

    def depends(self, key: AxisKey) -> bool:
        """Whether the size after an iteration is computed from one before it."""
        end = self._own[key].end
        assert end is not None
        known = sources(self.context, end)
        return any(axis.length in known for axis in self._own.values() if axis.room is None)

    def _room(self, axes: Sequence[Axis], exit_: Exit) -> Room | None:
        """Room for the longest that any of these gets: for levels r and growths g, which do not change in the
        loop, length' <= max(r, length + g), and so length <= max(start, r) + trip·max(g, 0) always."""
        context, lengths = self.context, {axis.length for axis in axes}
        levels: list[Affine] = []
        growths: list[Affine] = []
        for axis in axes:
            assert axis.end is not None
            form = context.builder.affine(axis.end)
            forms = ceilings(context, form, lambda var: var in lengths or is_outside(self.scope, var))
            for form in forms or ():
                rest = Affine(tuple(term for term in form.terms if term[0] not in lengths), form.constant)
                factors = [factor for var, factor in form.terms if var in lengths and factor > 0]
                if sum(factors) > 1:
                    return None
                (growths if factors else levels).append(rest)
            if forms is None:
                return None
        with context.reopened(self._outer):
            size = axes[0].start
            for axis in axes[1:]:
                size = larger(context, size, axis.start)
            size = largest(context, levels, size)
            grown = largest(context, growths, i64(0))
            if not is_at_most(context, grown, i64(0)):
                if self.trip is None:
                    return None
                size = context.builder.size("add", size, context.builder.size("mul", self.trip, grown))
        is_counted = self.trip is not None and exit_.kinds <= {NEXT, CONTINUE}
        return Room(size, _step(levels, growths) if is_counted and len(axes) == 1 else None)


def _step(levels: Sequence[Affine], growths: Sequence[Affine]) -> int | None:
    """By how much a length may grow in every iteration, where sizes that are cut off at 0 are not."""
    steps = {form.constant for form in growths}
    is_plain = all(not form.terms for form in growths) and all(form == Affine((), 0) for form in levels)
    return steps.pop() if is_plain and len(steps) == 1 and 0 not in steps else None
