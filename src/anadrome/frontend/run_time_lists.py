"""What a list of run-time length is, and its last rows while a loop counts how many it gets.

While rows are counted they are not stored. What the loop reads of the last ones (`xs[-1]`, `xs[-2]`) it
carries beside the list, so that a loop may end itself by what it appends: the first reading has the loop
staged once more, with so many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Check, Const, Var, i64
from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors.frontend import UnknownRoom, UnsupportedType
from anadrome.errors.runtime import INDEX_MESSAGE
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.heap import Stateful, is_same_structure
from anadrome.frontend.restarts import RestartWindow
from anadrome.frontend.sizes import as_size, is_nonnegative
from anadrome.frontend.structures import Inside
from anadrome.frontend.values import Array, Key, Scalar, Scope, Value, Weak, common_weak

Element = Callable[[Builder, tuple[Var, ...]], Atom]
"""(builder, indices) -> the element there"""


@dataclass(frozen=True, slots=True, eq=False)
class RowType:
    """What the rows of a list are: the type of each leaf, if it is a Python number, the row of leaves, and
    one of the rows, with which all others have in common what is known while compiling; `inside` are the
    parts of a row that are gone into."""

    types: tuple[ArrayType, ...]
    weak: tuple[Weak, ...]
    depths: tuple[int, ...]
    rebuild: Callable[..., Value]
    example: Value
    inside: Inside
    python_name: ClassVar[str] = "list of items of this kind"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RowType)
            and (self.types, self.weak, self.depths) == (other.types, other.weak, other.depths)
            and is_same_structure(self.example, other.example, self.inside)
        )


class GrowingList(Stateful):
    """A list of the program whose length is known at run time only."""

    __slots__ = ("columns", "count", "last", "length", "row", "tried")
    python_name = "list"
    is_rebuilt = True

    def __init__(self) -> None:
        self.columns: tuple[Array, ...] = ()
        self.length: Value = 0
        self.count: Value = 0
        self.row: RowType | None = None
        self.last: tuple[Value, ...] = ()
        """The last rows, from the last one on, while rows are counted and not stored."""
        self.tried = 0
        """Which room it has, where that is tried."""

    def __repr__(self) -> str:
        return "a list"

    def contents(self) -> dict[Key, Value]:
        """Its length, its arrays, what its rows are, how many were counted, and the last of these."""
        names: tuple[Key, ...] = ("length", "columns", "row", "count", "last")
        return dict(zip(names, (self.length, self.columns, self.row, self.count, self.last), strict=True))

    def refill(self, contents: Mapping[Key, Value]) -> None:
        """Hold other rows."""
        found: Mapping[Any, Any] = contents
        self.length, self.columns = found["length"], found["columns"]
        self.row, self.count, self.last = found["row"], found["count"], found["last"]

    @property
    def example(self) -> Value:
        """One of the rows, where there are any."""
        return None if self.row is None else self.row.example

    def rebuild(self, leaves: Iterator[Value]) -> Value:
        """The row made of others of these leaves."""
        assert self.row is not None
        kept = zip(leaves, self.row.weak, strict=True)
        return self.row.rebuild(
            Scalar(leaf.atom, is_weak) if isinstance(leaf, Scalar) else leaf for leaf, is_weak in kept
        )


def joint_row(context: Context, old: RowType | None, new: RowType) -> RowType:
    """What the rows of a list are that has rows of both kinds: numbers of a common type.

    Raises `UnsupportedType` where rows differ in more than their numbers: in form, in a text or function, or
    in the type of a number or array that is not Python's own.
    """
    if old is None:
        return new
    if not is_same_structure(old.example, new.example, old.inside) or any(
        one.rank != two.rank for one, two in zip(old.types, new.types, strict=True)
    ):
        raise UnsupportedType(*_OTHER_ROW, context.span, _OTHER_HELP)
    types = tuple(
        ArrayType(_common(one.dtype, two.dtype), one.shape)
        for one, two in zip(old.types, new.types, strict=True)
    )
    weak = tuple(
        common_weak(one, two) if type_.dtype is BOOL else bool(one and two)
        for one, two, type_ in zip(old.weak, new.weak, types, strict=True)
    )
    for row in (old, new):
        for own, is_weak, joint in zip(row.types, row.weak, types, strict=True):
            differs = own.dtype is not joint.dtype and (not is_weak or own.dtype is BOOL)
            if differs and any(one.is_empty for one in (*old.types, *new.types)):
                what = "an empty list, which has no type, beside items of another length"
                raise UnsupportedType("an item of a run-time list", what, context.span, ONE_LENGTH)
            if differs:
                mine, common = own.dtype.numpy.name, joint.dtype.numpy.name
                what = f"{mine} in one item and of a type in another that makes {common} of both"
                help = f"give all one type: `np.{common}(x)` of a number, `x.astype(np.{common})` of an array"
                raise UnsupportedType("an item of a run-time list", what, context.span, help)
    return RowType(types, weak, old.depths, old.rebuild, old.example, old.inside)


ONE_LENGTH = "make all items of one length: pad them with a number that is no item, as in `[1, 2, -1]`"
_OTHER_ROW = ("an item of a run-time list", "of another form than the item before")
_OTHER_HELP = (
    "items may differ in their numbers and in the elements of their arrays: texts, functions, keys and "
    "structure must be the same in all of them"
)


def _common(left: DType, right: DType) -> DType:
    if left is right:
        return left
    found = np.result_type(left.numpy, right.numpy)
    return left if found == left.numpy else right


def inside(context: Context, owner: GrowingList, index: Value) -> Atom:
    """An index as a place from 0 on; the program checks that it is inside."""
    builder, length = context.builder, atom(context, owner.length, I64)
    found = as_size(context, index)
    if isinstance(found, Const):
        place: Atom = found if int(found.value) >= 0 else builder.size("add", length, found)
    elif is_nonnegative(context, found):
        place = found
    else:
        wrapped = builder.apply("add", found, length)
        place = builder.select(builder.apply("lt", found, i64(0)), wrapped, found)
    is_inside = builder.apply("and", builder.apply("ge", place, i64(0)), builder.apply("lt", place, length))
    builder.let(Check(is_inside, "index", INDEX_MESSAGE, (place, length)))
    return place


# ---------------------------------------------------------------------------- counting
def keep_last(context: Context, owner: GrowingList, row: Value) -> None:
    """Let a row that is counted be the last one, where the last ones are read."""
    if owner.last:
        context.change(owner, "a list, by `append`,", "last")
        owner.last = (row, *owner.last[:-1])


def counting_loop(context: Context, owner: GrowingList) -> Scope | None:
    """The loop that counts the rows of a list, where one does."""
    record = context.records[id(owner)]
    loops = [scope.loop or scope for scope in context.scopes()]
    return next((one for one in loops if one.is_counting and (record, "count") in one.carried), None)


def refuse_counted(context: Context, owner: GrowingList, is_taken: bool = False) -> None:
    """The rows of a list are not there while they are counted: they can be neither read nor taken from it."""
    if counting_loop(context, owner) is not None:
        raise UnknownRoom(context.span, is_read=True, is_taken=is_taken)


def recent(context: Context, owner: GrowingList, counting: Scope, index: Value) -> Value:
    """One of the last rows of a list whose rows are counted: these are carried beside it."""
    builder = context.builder
    form = builder.affine(as_size(context, index))
    if form.terms:
        form = form.plus(builder.affine(atom(context, owner.length, I64)), -1)
    back = -form.constant
    if form.terms or back <= 0:
        raise UnknownRoom(context.span, is_read=True)
    inside(context, owner, -back)
    if back > len(owner.last):
        raise RestartWindow(counting, owner, back)
    return owner.last[back - 1]


def begin_window(context: Context, stopped: RestartWindow) -> None:
    """Before a loop begins that counts the rows of a list: its last rows, zeros where there are none."""
    owner = stopped.owner
    assert isinstance(owner, GrowingList)
    counted = stopped.scope.counted.get(owner)
    assert isinstance(counted, RowType)
    row = joint_row(context, owner.row, counted)
    owner.last = tuple(_row_from_end(context, owner, row, back + 1) for back in range(stopped.back))


def _row_from_end(context: Context, owner: GrowingList, row: RowType, back: int) -> Value:
    """The row so far from the end; zeros where there is none."""
    builder, length = context.builder, atom(context, owner.length, I64)
    place, is_there = builder.size("sub", length, i64(back)), builder.apply("ge", length, i64(back))
    columns = owner.columns or (None,) * len(row.types)
    leaves: list[Value] = []
    for column, type_, is_weak in zip(columns, row.types, row.weak, strict=True):
        found = (
            builder.zeros(type_)
            if column is None
            else _where(builder, is_there, partial(_element, context.read(column), place, type_), type_)
        )
        leaves.append(context.wrap(found, is_weak))
    return row.rebuild(iter(leaves))


def _element(column: Var, place: Atom, type_: ArrayType, inner: Builder, at: tuple[Var, ...]) -> Atom:
    """An element of the row at a place, under the type of a row."""
    return inner.convert(inner.index(column, (place, *at)), type_.dtype)


def _where(builder: Builder, condition: Atom, element: Element, type_: ArrayType) -> Atom:
    """An array of these elements where a condition holds, else zeros."""
    (found,) = builder.branch(
        condition,
        lambda inner: (inner.build(type_.shape, element),),
        lambda inner: (inner.zeros(type_),),
    )
    return found
