"""Two ways through a program made one: run-time branches, and what becomes of names, cells and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Apply, ArrayType, Atom, Const, If, Let, Size, Var, i64
from anadrome.dtypes import F64
from anadrome.errors.frontend import BranchesDiffer, FrontendError
from anadrome.frontend.arrays import atom, describe, promote, type_of
from anadrome.frontend.complex_numbers.parts import staged_surroundings
from anadrome.frontend.context import Context
from anadrome.frontend.overloads import own_method
from anadrome.frontend.sizes import retype
from anadrome.frontend.structures import children, is_alike, is_number, with_children
from anadrome.frontend.values import (
    BREAK,
    RETURN,
    Array,
    Cell,
    Complex,
    Exit,
    Frame,
    Missing,
    Scalar,
    Scope,
    ScopeKind,
    Value,
    is_staged,
    link,
    value_at_break,
)

CHEAP = frozenset(
    {"add", "sub", "mul", "neg", "min", "max", "abs", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"}
    | {"select", "to_i64", "to_f64", "to_f32", "to_bool"}
)
"""Operations that may be computed on both ways: cheap, never failing, with finite partials."""


@dataclass(slots=True, eq=False)
class Slot:
    """One result of a branch: the value on either way, and the type both are brought to."""

    then: Value
    other: Value
    type: ArrayType
    is_weak: bool


@dataclass(slots=True, eq=False)
class Way:
    """One branch after it was evaluated: scope, names, exit, and the last values of cells it wrote."""

    scope: Scope
    names: dict[str, Value]
    exit: Exit
    cells: dict[Cell, Var]

    @property
    def is_over(self) -> bool:
        """Whether nothing after the branch is reached from here."""
        return self.exit.kinds <= {RETURN}


def branch(
    context: Context,
    frame: Frame,
    condition: Atom,
    then: Callable[[], Exit],
    other: Callable[[], Exit],
    live: Iterable[str] = (),
) -> Exit:
    """Evaluate both ways of a run-time condition into bodies of their own and merge what they leave."""
    span = context.span
    before = dict(frame.names)
    first = _walk(context, frame, then)
    frame.names = dict(before)
    second = _walk(context, frame, other)
    frame.names = before
    context.span = span
    slots: list[Slot] = []
    joins = _join_names(context, before, first, second, live, slots)
    finish_exit = _join_exit(context, first, second, slots)
    cells = [cell for cell in {**first.cells, **second.cells} if _differs(cell, first, second)]
    for cell in cells:
        one, two = first.cells.get(cell, cell.var), second.cells.get(cell, cell.var)
        slots.append(Slot(_held(context, one), _held(context, two), cell.var.type, False))  # type: ignore[arg-type]
    results = iter(_emit(context, condition, first, second, slots))
    for name, join in joins.items():
        frame.names[name] = join(results)
    exit_ = finish_exit(results)
    for cell in cells:
        result = next(results)
        assert isinstance(result, Array)
        cell.var = result.cell.var
    return exit_


def _held(context: Context, var: Var) -> Array:
    return Array(Cell(var, context.scope))


def _differs(cell: Cell, first: Way, second: Way) -> bool:
    return first.cells.get(cell, cell.var) is not second.cells.get(cell, cell.var)


def _walk(context: Context, frame: Frame, way: Callable[[], Exit]) -> Way:
    with context.nested(ScopeKind.BRANCH) as scope:
        exit_ = way()
    written = {cell: cell.var for cell in scope.before}
    for cell, var in scope.before.items():
        cell.var = var
    return Way(scope, frame.names, exit_, written)


# ---------------------------------------------------------------------------- joining
Join = Callable[[Iterator[Value]], Value]


def _join_names(
    context: Context,
    before: dict[str, Value],
    first: Way,
    second: Way,
    live: Iterable[str],
    slots: list[Slot],
) -> dict[str, Join]:
    joins: dict[str, Join] = {}
    for name in sorted(set(live)):
        if not (name in before or name in first.names or name in second.names):
            continue
        nothing = before.get(name, Missing("assigned in only one branch of a run-time `if`"))
        one, two = first.names.get(name, nothing), second.names.get(name, nothing)
        if one is two and name in before:
            continue
        joins[name] = _join_name(context, name, one, two, first, second, slots)
    return joins


def _join_name(
    context: Context, name: str, one: Value, two: Value, first: Way, second: Way, slots: list[Slot]
) -> Join:
    """A name read only where one way led takes that way's type; one without a common type is unusable."""
    if isinstance(one, Missing) or isinstance(two, Missing):
        found = two if isinstance(one, Missing) else one
        is_unreached = first.is_over if isinstance(one, Missing) else second.is_over
        if isinstance(found, Missing) or not is_unreached:
            missing = one if isinstance(one, Missing) else two
            assert isinstance(missing, Missing)
            return _join_broken(context, name, missing, one, two, first, second, slots)
        one = two = found
    mark = len(slots)
    try:
        return join(context, f"`{name}`", one, two, first, second, slots)
    except FrontendError as error:
        del slots[mark:]
        words = error.diagnostic
        differs = error.ways if isinstance(error, BranchesDiffer) else None
        reason = f"{words.message.removeprefix('error: ')}: {words.label}"
        return lambda _: Missing(reason, words.help, differs)


def _join_broken(
    context: Context,
    name: str,
    missing: Missing,
    one: Value,
    two: Value,
    first: Way,
    second: Way,
    slots: list[Slot],
) -> Join:
    """A name without a value, and what it is on the ways that leave a loop by `break`, zeros on the other."""
    plain = replace(missing, at_break=None)
    ways = ((first, one), (second, two))
    values = [value_at_break(value) for way, value in ways if BREAK in way.exit.kinds]
    if not values or any(value is None for value in values):
        return lambda _: plain
    mark = len(slots)
    try:
        made = join(context, f"`{name}`", values[0], values[-1], first, second, slots)
    except FrontendError:
        del slots[mark:]
        return lambda _: plain
    return lambda results: replace(plain, at_break=made(results))


def join(
    context: Context, what: str, one: Value, two: Value, first: Way, second: Way, slots: list[Slot]
) -> Join:
    """One value for two: adds the slots it needs and gives what makes the value of the slots' results."""
    if one is two and not _is_bound_inside(one, first, second):
        return lambda _: one
    one, two = staged_surroundings(context, one), staged_surroundings(context, two)
    if isinstance(one, Complex) is not isinstance(two, Complex):
        one, two = _beside_complex(context, one), _beside_complex(context, two)
    if _is_leaf(one) and _is_leaf(two):
        slots.append(_slot(context, what, one, two, first, second))
        return next
    if is_alike(one, two):
        mine, theirs = children(one), children(two)
        assert mine is not None and theirs is not None
        joins = [join(context, what, a, b, first, second, slots) for a, b in zip(mine, theirs, strict=True)]
        return lambda results: with_children(one, [part(results) for part in joins])
    is_comparable = type(one) is type(two) and not is_staged(one) and own_method(one, "__eq__") is None
    if is_comparable and bool(one == two):
        return lambda _: one
    if first.is_over or second.is_over:
        ways = (describe(one), describe(two))
        return lambda _: Missing(f"{what} is {ways[0]} on one way and {ways[1]} on the other", "", ways)
    raise BranchesDiffer(what, describe(one), describe(two), context.span)


def _beside_complex(context: Context, value: Value) -> Value:
    """A real number where the other way has a complex one; a real array would be another array than it is."""
    if not isinstance(value, Scalar) and not is_number(value):
        return value
    _, is_weak = type_of(context, value)
    zero = Scalar(
        context.constant(0.0, value.dtype if isinstance(value, Scalar) and value.dtype.is_float else F64),
        is_weak,
    )
    return Complex(value if isinstance(value, Scalar) else Scalar(atom(context, value), is_weak), zero)


def _is_leaf(value: Value) -> bool:
    return is_staged(value) or is_number(value)


def _is_bound_inside(value: Value, first: Way, second: Way) -> bool:
    match value:
        case Scalar(atom=Var() as var):
            return first.scope.builder.binds(var) or second.scope.builder.binds(var)
        case Array(cell=cell):
            return cell.home is first.scope or cell.home is second.scope
        case _:
            parts = children(value)
            return parts is not None and any(_is_bound_inside(part, first, second) for part in parts)


def _slot(context: Context, what: str, one: Value, two: Value, first: Way, second: Way) -> Slot:
    dtype, is_weak = promote(context, (one, two), "if")
    shapes = [value.shape if isinstance(value, Array) else () for value in (one, two)]
    if len(shapes[0]) != len(shapes[1]):
        raise BranchesDiffer(what, describe(one), describe(two), context.span)
    shape: list[Size] = []
    for left, right in zip(*shapes, strict=True):
        size = right if isinstance(left, Var) and first.scope.builder.binds(left) else left
        if isinstance(size, Var) and (first.scope.builder.binds(size) or second.scope.builder.binds(size)):
            raise BranchesDiffer(f"the size of {what}", describe(one), describe(two), context.span)
        if isinstance(left, Const) and isinstance(right, Const) and left != right:
            raise BranchesDiffer(f"the shape of {what}", describe(one), describe(two), context.span)
        shape.append(size)
    return Slot(one, two, ArrayType(dtype, tuple(shape)), is_weak)


def _join_exit(
    context: Context, first: Way, second: Way, slots: list[Slot]
) -> Callable[[Iterator[Value]], Exit]:
    one, two = first.exit, second.exit
    kinds = one.kinds | two.kinds
    join_value: Join = lambda _: None  # noqa: E731
    if RETURN in one.kinds and RETURN in two.kinds:
        join_value = join(context, "the result", one.value, two.value, first, second, slots)
    elif RETURN in kinds:
        value = one.value if RETURN in one.kinds else two.value
        join_value = join(context, "the result", value, value, first, second, slots)
    codes = [exit_.code for exit_ in (one, two) if exit_.kinds] or [one.code]
    if isinstance(codes[0], int) and all(code == codes[0] for code in codes):
        code = codes[0]
        return lambda results: Exit(code, kinds, join_value(results))
    one_code, two_code = (Scalar(i64(c) if isinstance(c, int) else c) for c in (one.code, two.code))
    slots.append(Slot(one_code, two_code, ArrayType(i64(0).dtype), False))

    def finish(results: Iterator[Value]) -> Exit:
        value = join_value(results)
        found = next(results)
        assert isinstance(found, Scalar)
        return Exit(found.atom, kinds, value)

    return finish


# ---------------------------------------------------------------------------- emitting
def _emit(context: Context, condition: Atom, first: Way, second: Way, slots: Sequence[Slot]) -> list[Value]:
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
    results = [_result(context, slot, one, first, second) for slot, one in zip(slots, atoms, strict=True)]
    link_shared([(value, (slot.then, slot.other)) for value, slot in zip(results, slots, strict=True)])
    return results


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
    return retype(context, found, slot.type, "if") if isinstance(found, Var) and slot.type.shape else found


def _is_bound_in(value: Value, builder: Builder) -> bool:
    match value:
        case Scalar(atom=Var() as var):
            return builder.binds(var)
        case Array(cell=cell, view=view):
            return builder.binds(cell.var if view is None else view.var)
        case _:
            return False


def _result(context: Context, slot: Slot, found: Atom, first: Way, second: Way) -> Value:
    wrapped = context.wrap(found, slot.is_weak)
    if isinstance(wrapped, Array):
        link(wrapped.cell, aliases((slot.then, slot.other), (first.scope, second.scope)))
        depth = max(v.list_depth for v in (slot.then, slot.other) if isinstance(v, Array))
        return Array(wrapped.cell, None, depth)
    return wrapped


def aliases(values: Iterable[Value], inside: Sequence[Scope] = ()) -> tuple[Cell, ...]:
    """The cells that a value merged from these may share memory with."""
    found: dict[Cell, None] = {}
    for value in values:
        if isinstance(value, Array):
            cells = (value.cell, *value.cell.partners)
            found.update({cell: None for cell in cells if cell.home not in inside})
    return tuple(found)


def link_shared(results: Sequence[tuple[Value, Sequence[Value]]]) -> None:
    """Link results that may be one array: each comes with the values it was merged from."""
    arrays = [(value.cell, set(aliases(sources))) for value, sources in results if isinstance(value, Array)]
    for position, (cell, roots) in enumerate(arrays):
        link(cell, [other for other, theirs in arrays[:position] if roots & theirs])
