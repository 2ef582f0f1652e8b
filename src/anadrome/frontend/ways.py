"""The two ways of a run-time branch, what each of them leaves, and the statement that takes one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Apply, ArrayType, Atom, If, Let, Var
from anadrome.dtypes import BOOL
from anadrome.errors.runtime import ON_TWO_WAYS
from anadrome.frontend.arrays import atom, boxed
from anadrome.frontend.context import Context
from anadrome.frontend.rooms import widened
from anadrome.frontend.sharing import Version, link_versions
from anadrome.frontend.sizes import retype
from anadrome.frontend.values import RETURN, Array, Cell, Exit, Holder, Scalar, Scope, State, Value, Weak
from anadrome.frontend.views import common_layout

CHEAP = frozenset(
    {"add", "sub", "mul", "neg", "min", "max", "abs", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"}
    | {"select", "to_i64", "to_f64", "to_f32", "to_bool"}
)
"""Operations that may be computed on both ways: cheap, never failing, with finite partials."""


@dataclass(slots=True, eq=False)
class Slot:
    """One result of a branch: the value on either way, and the type both are brought to. A buffer
    (`is_padded`) has room for more rows than there are."""

    then: Value
    other: Value
    type: ArrayType
    is_weak: Weak
    is_padded: bool = False


@dataclass(slots=True, eq=False)
class Way:
    """One branch after it was evaluated: scope, names, exit, and the last states of objects it changed."""

    scope: Scope
    names: dict[str, Value]
    exit: Exit
    states: dict[Holder, State]

    @property
    def cells(self) -> dict[Cell, Var]:
        """The last values of the cells it wrote."""
        return {
            one: var for one, var in self.states.items() if isinstance(one, Cell) and isinstance(var, Var)
        }

    @property
    def is_over(self) -> bool:
        """Whether nothing after the branch is reached from here."""
        return self.exit.kinds <= {RETURN}


def emit(context: Context, condition: Atom, first: Way, second: Way, slots: Sequence[Slot]) -> list[Value]:
    then = _finish(context, first, second, [slot.then for slot in slots], slots)
    other = _finish(context, second, first, [slot.other for slot in slots], slots)
    lets = (*first.scope.builder.lets, *second.scope.builder.lets)
    if not slots and not lets:
        return []
    scalar = all(not slot.type.shape for slot in slots)
    if scalar and slots and len(lets) <= 4 and all(_is_cheap(let) for let in lets):
        context.emit(lets)
        atoms = [context.builder.select(condition, a, b) for a, b in zip(then, other, strict=True)]
    else:
        expr = If(condition, first.scope.builder.body(then), second.scope.builder.body(other))
        atoms = list(context.builder.let(expr))
        for slot, result, a, b in zip(slots, atoms, then, other, strict=True):
            if slot.type == ArrayType(BOOL):
                context.facts.chosen(result, (condition, a, b))
    results = [_result(context, slot, one) for slot, one in zip(slots, atoms, strict=True)]
    versions = [
        Version(value, (slot.then, slot.other), _is_exact(slot, value))
        for value, slot in zip(results, slots, strict=True)
        if isinstance(value, Array)
    ]
    ways = (first.scope, second.scope)
    link_versions(context, condition, versions, lambda cell: cell.home in ways)
    return results


def _is_exact(slot: Slot, version: Array) -> bool:
    """Whether a version holds what the array on either way holds, and no list or buffer stands for it."""
    ways = [way for way in (slot.then, slot.other) if isinstance(way, Array)]
    kept = all(way.dtype is version.dtype and not way.list_depth for way in ways)
    return kept and len(ways) == 2 and not slot.is_padded


def _is_cheap(let: Let) -> bool:
    return isinstance(let.expr, Apply) and let.expr.prim.name in CHEAP


def _finish(
    context: Context, way: Way, opposite: Way, values: Sequence[Value], slots: Sequence[Slot]
) -> list[Atom]:
    """The values of the slots brought to their types inside the branch; zeros where they will not be read."""
    held = {cell: cell.var for cell in way.cells}
    for cell, var in way.cells.items():
        cell.var = var
    with context.reopened(way.scope):
        fitted = [_fit(context, value, slot, opposite) for value, slot in zip(values, slots, strict=True)]
    for cell, var in held.items():
        cell.var = var
    return fitted


def _fit(context: Context, value: Value, slot: Slot, opposite: Way) -> Atom:
    if _is_bound_in(value, opposite.scope.builder):
        return context.builder.zeros(slot.type)
    found = atom(context, value, slot.type.dtype)
    is_list = isinstance(value, Array) and value.list_depth
    name = f"the {'lists' if is_list else 'arrays'} {ON_TWO_WAYS}"
    if slot.is_padded:
        assert isinstance(found, Var)
        rows = ArrayType(slot.type.dtype, (found.type.shape[0], *slot.type.shape[1:]))
        return widened(context.builder, retype(context, found, rows, name), slot.type)
    return retype(context, found, slot.type, name) if isinstance(found, Var) and slot.type.shape else found


def _is_bound_in(value: Value, builder: Builder) -> bool:
    match value:
        case Scalar(atom=Var() as var):
            return builder.binds(var)
        case Array(cell=cell, view=view):
            return builder.binds(cell.var if view is None else view.var)
        case _:
            return False


def _result(context: Context, slot: Slot, found: Atom) -> Value:
    wrapped = context.wrap(found, slot.is_weak)
    if isinstance(slot.then, Array) and isinstance(slot.other, Array) and isinstance(wrapped, Scalar):
        wrapped = boxed(context, found)
    if not isinstance(wrapped, Array):
        return wrapped
    arrays = [value for value in (slot.then, slot.other) if isinstance(value, Array)]
    wrapped.cell.layout = common_layout(arrays)
    wrapped.cell.holds_items_of(value.cell for value in arrays)
    return Array(wrapped.cell, None, max(value.list_depth for value in arrays))
