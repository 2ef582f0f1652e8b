"""Two ways through a program made one: run-time branches, and what becomes of names, cells and results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from anadrome.array_ir.affine import Affine
from anadrome.array_ir.nodes import FALSE, TRUE, ArrayType, Atom, Const, Size, Var, i64
from anadrome.dtypes import BOOL, F64, I64
from anadrome.errors.frontend import BranchesDiffer, FrontendError
from anadrome.errors.objects import stale
from anadrome.frontend.arrays import atom, describe, promote, promote_one, type_of, variable_of, weakness
from anadrome.frontend.complex_numbers.parts import staged_surroundings
from anadrome.frontend.context import Context
from anadrome.frontend.growing import make_room
from anadrome.frontend.heap import (
    attributes,
    contents,
    describe_part,
    is_alike,
    members,
    refill,
    set_state,
    state_of,
    with_members,
    with_state,
)
from anadrome.frontend.joining import Join, Joining
from anadrome.frontend.joining_lists import is_list, join_lists, rows_differ
from anadrome.frontend.joining_texts import chosen_text, left_text
from anadrome.frontend.overloads import own_method
from anadrome.frontend.restarts import TRIES_ROOMS, Restage, RestartGrown
from anadrome.frontend.rooms import ceilings, differ, first_rows, is_outside, largest, sources
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.sizes import is_same_size
from anadrome.frontend.structures import RowList, are_apart, children, has_staged, is_number, maybe, shared
from anadrome.frontend.values import (
    BREAK,
    RETURN,
    Array,
    Cell,
    Complex,
    Exit,
    Frame,
    Holder,
    Key,
    Maybe,
    Missing,
    Record,
    RunText,
    Scalar,
    Scope,
    ScopeKind,
    State,
    Value,
    is_staged,
    link,
    python_name,
    value_at_break,
)
from anadrome.frontend.ways import Slot, Way, emit
from anadrome.prims.node import replace

_Tried = TypeVar("_Tried")


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
    first, second = _both_ways(context, frame, condition, then, other)
    frame.names = before
    context.span = span
    joining = Joining(context, condition, first, second)
    joins = _join_names(joining, before, live)
    parts = [
        _join_parts(joining, holder)
        for holder in {**first.states, **second.states}
        if isinstance(holder, Record)
    ]
    finish_exit = _join_exit(joining)
    cells = [cell for cell in {**first.cells, **second.cells} if _differs(cell, first, second)]
    for cell in cells:
        one, two = first.cells.get(cell, cell.var), second.cells.get(cell, cell.var)
        wide = promote(context, (_held(context, one), _held(context, two)), "if")[0]
        joining.slots.append(
            Slot(_held(context, one), _held(context, two), ArrayType(wide, cell.var.type.shape), False)
        )
    results = iter(emit(context, condition, first, second, joining.slots))
    for name, join_name in joins.items():
        frame.names[name] = join_name(results)
    for finish in parts:
        finish(results)
    exit_ = finish_exit(results)
    for cell in cells:
        cell.var = variable_of(context, atom(context, next(results)))
    joining.settle()
    return exit_


def _held(context: Context, var: Var) -> Array:
    return Array(Cell(var, context.scope))


def _differs(cell: Cell, first: Way, second: Way) -> bool:
    return first.cells.get(cell, cell.var) is not second.cells.get(cell, cell.var)


def _both_ways(
    context: Context, frame: Frame, condition: Atom, then: Callable[[], Exit], other: Callable[[], Exit]
) -> tuple[Way, Way]:
    """Both ways evaluated, each from what is before the branch; again where a list had no room for one."""
    before = dict(frame.names)
    rooms: tuple[dict[object, int], dict[object, int]] = ({}, {})
    while True:
        opened: list[Scope] = []
        try:
            first = _walk(context, frame, (condition, True), then, rooms[0], opened)
            frame.names = dict(before)
            return first, _walk(context, frame, (condition, False), other, rooms[1], opened)
        except RestartGrown as stopped:
            frame.names = dict(before)
            if stopped.scope not in opened:
                raise
            make_room(context, stopped)
            room = rooms[opened.index(stopped.scope)]
            room[stopped.owner] = stopped.room(room.get(stopped.owner, 0))


def _walk(
    context: Context,
    frame: Frame,
    known: tuple[Atom, bool],
    way: Callable[[], Exit],
    room: dict[object, int],
    opened: list[Scope],
) -> Way:
    states: dict[Holder, State] = {}
    with context.nested(ScopeKind.BRANCH) as scope:
        opened.append(scope)
        scope.room = room
        context.facts.assume(scope, *known)
        try:
            exit_ = way()
            states = {holder: state_of(holder) for holder in scope.before}
        finally:
            for holder, state in scope.before.items():
                set_state(holder, state)
    return Way(scope, frame.names, exit_, states)


def tried(context: Context, evaluate: Callable[[], _Tried]) -> tuple[_Tried | None, Scope, bool]:
    """What an evaluation gives, with the scope that holds its statements, and whether it has changed objects
    that there were before, or drawn numbers: these are then as they were."""
    draws, found, is_changing = len(context.draws), None, False
    with context.nested(ScopeKind.BRANCH) as scope:
        try:
            found = evaluate()
        except RestartGrown as stopped:
            if stopped.scope is not scope:
                raise
            is_changing = True
        finally:
            for holder, state in scope.before.items():
                set_state(holder, state)
    is_changing = is_changing or bool(scope.before) or len(context.draws) > draws
    if is_changing:
        del context.draws[draws:]
    return found, scope, is_changing


# ---------------------------------------------------------------------------- joining
def _join_names(joining: Joining, before: dict[str, Value], live: Iterable[str]) -> dict[str, Join]:
    first, second = joining.first, joining.second
    joins: dict[str, Join] = {}
    for name in sorted(set(live)):
        if not (name in before or name in first.names or name in second.names):
            continue
        nothing = before.get(name, Missing("assigned in only one branch of a run-time `if`"))
        one, two = first.names.get(name, nothing), second.names.get(name, nothing)
        if one is two and one is before.get(name, nothing):
            continue
        joins[name] = _join_name(joining, f"`{name}`", one, two)
    return joins


def _join_parts(joining: Joining, record: Record) -> Callable[[Iterator[Value]], None]:
    """Every part of an object that either way has changed. What a function has changed before it returns is
    seen by whoever called it, so that a way that returns counts as well."""
    first, second = joining.first, joining.second
    now = contents(record.owner)
    one, two = (_parts_after(way, record, now) for way in (first, second))
    what = f"a {python_name(record.owner)}"
    if isinstance(record.owner, list | deque | dict | set) and list(one) != list(two):
        words = (f"{len(one)} items", f"{len(two)} items")
        joining.context.grows(record.owner, BranchesDiffer(what, *words, joining.context.span))
    nothing = Missing("assigned in only one branch of a run-time `if`")
    joins: dict[Key, Join] = {}
    for key in {**one, **two}:
        left, right = one.get(key, nothing), two.get(key, nothing)
        joins[key] = _join_name(joining, f"{what}{describe_part(record, key)}", left, right)

    def finish(results: Iterator[Value]) -> None:
        refill(record.owner, {key: made(results) for key, made in joins.items()})

    return finish


def _parts_after(way: Way, record: Record, now: dict[Key, Value]) -> dict[Key, Value]:
    state = way.states.get(record, now)
    assert isinstance(state, dict)
    return state


def _join_name(joining: Joining, what: str, one: Value, two: Value) -> Join:
    """A name read only where one way led takes that way's type; one without a common type is unusable."""
    one = joining.context.settled(one, joining.first.scope)
    two = joining.context.settled(two, joining.second.scope)
    if isinstance(one, Missing) or isinstance(two, Missing):
        found = two if isinstance(one, Missing) else one
        is_unreached = joining.is_over_alone(isinstance(one, Missing))
        if isinstance(found, Missing) or not is_unreached:
            missing = one if isinstance(one, Missing) else two
            assert isinstance(missing, Missing)
            return _join_broken(joining, what, missing, one, two)
        one = two = found
    mark = len(joining.slots)
    try:
        return join(joining, what, one, two)
    except FrontendError as error:
        del joining.slots[mark:]
        words = error.diagnostic
        differs = error.ways if isinstance(error, BranchesDiffer) else None
        reason = f"{words.message.removeprefix('error: ')}: {words.label}"
        return lambda _: Missing(reason, words.help, differs)


def _join_broken(joining: Joining, what: str, missing: Missing, one: Value, two: Value) -> Join:
    """A name without a value; what it is on the ways that leave a loop by `break`, zeros on the other; and
    what it is where a part of an expression has bound it."""
    plain = replace(missing, at_break=None, there=None)
    bound = [value.there if isinstance(value, Missing) else value for value in (one, two)]
    unbound = sum(value is None for value in bound)
    if not unbound or (unbound == 1 and joining.is_expression):
        return _join_bound(joining, what, plain, *bound)
    ways = ((joining.first, one), (joining.second, two))
    values = [value_at_break(value) for way, value in ways if BREAK in way.exit.kinds]
    if not values or any(value is None for value in values):
        return lambda _: plain
    mark = len(joining.slots)
    try:
        made = join(joining, what, values[0], values[-1])
    except FrontendError:
        del joining.slots[mark:]
        return lambda _: plain
    return lambda results: replace(plain, at_break=made(results))


def _join_bound(joining: Joining, what: str, plain: Missing, one: Value, two: Value) -> Join:
    """A name that is bound on some ways only, and what it is where one of these is known to be taken."""
    mark = len(joining.slots)
    try:
        made = _join_optional(joining, what, one, two)
    except FrontendError:
        del joining.slots[mark:]
        return lambda _: plain

    def finish(results: Iterator[Value]) -> Value:
        found = made(results)
        return replace(plain, there=found) if isinstance(found, Maybe) else plain

    return finish


def join(joining: Joining, what: str, one: Value, two: Value) -> Join:
    """One value for two: adds the slots it needs and gives what makes the value of the slots' results."""
    context, first, second = joining.context, joining.first, joining.second
    one, two = context.settled(one, first.scope), context.settled(two, second.scope)
    if one is two and not joining.is_bound_inside(one):
        return lambda _: one
    if isinstance(one, Maybe | None) or isinstance(two, Maybe | None):
        return _join_optional(joining, what, one, two)
    pair = (one, two)
    joining.refuse_iterators(pair)
    one, two = (_after(context, way, value) for way, value in ((first, one), (second, two)))
    if not (are_apart(one) and are_apart(two)):
        one, two = shared(one), shared(two)
    if isinstance(one, Complex) is not isinstance(two, Complex):
        one, two = _beside_complex(context, one), _beside_complex(context, two)
    if _is_leaf(one) and _is_leaf(two):
        return _join_leaves(joining, what, one, two)
    if isinstance(one, str | RunText) and isinstance(two, str | RunText):
        if one is two or (isinstance(one, str) and isinstance(two, str) and one == two):
            return left_text(joining, what, one)
        return chosen_text(joining, what, one, two)
    are_made = [
        context.is_made(old) or context.is_made(new) for old, new in zip(pair, (one, two), strict=True)
    ]
    mine, theirs = _members(context, one, two, *are_made), _members(context, two, one, *reversed(are_made))
    if mine is not None and theirs is not None and is_alike(one, two) and not rows_differ(one, two):
        mark = len(joining.slots)
        try:
            with joining.entered(one, two):
                joins = [join(joining, what, a, b) for a, b in zip(mine, theirs, strict=True)]
            return lambda results: _merged(joining, pair, one, [part(results) for part in joins])
        except BranchesDiffer:
            if not is_list(one):
                raise
            del joining.slots[mark:]
    is_comparable = (
        type(one) is type(two)
        and not (has_staged(one) or has_staged(two))
        and own_method(context, one, "__eq__") is None
    )
    if is_comparable and bool(one == two):
        return lambda _: one
    error = BranchesDiffer(what, describe(one), describe(two), context.span)
    is_over = first.is_over or second.is_over
    if not is_over and all(isinstance(value, list | RowList | GrowingList) for value in pair):
        _grow(context, pair, error)
    made = join_lists(joining, what, pair, (one, two), join) if first.is_over is second.is_over else None
    if made is not None:
        return made
    if is_over:
        ways = (describe(one), describe(two))
        return lambda _: Missing(f"{what} is {ways[0]} on one way and {ways[1]} on the other", "", ways)
    raise error


def _grow(context: Context, lists: Iterable[Value], error: BranchesDiffer) -> None:
    """Stage the program once more with lists that meet as ones of the run, whichever are not."""
    for value in lists:
        record = context.records.get(id(value))
        site = record.site if record is not None else None
        if isinstance(value, RowList):
            site = context.list_sites.get(value.columns[0].cell)
        if site is not None and site not in context.grown and not isinstance(value, GrowingList):
            raise Restage(site, error)


def _join_optional(joining: Joining, what: str, one: Value, two: Value) -> Join:
    """A value that is None on one way, or may be: whether it is there, and what it is then."""
    if any(isinstance(value, Maybe) and value.other is not None for value in (one, two)):
        return _join_numbers(joining, what, one, two)
    values = [value.value if isinstance(value, Maybe) else value for value in (one, two) if value is not None]
    if not values:
        return lambda _: None
    join_flag = _join_flags(joining, *(_is_there(value) for value in (one, two)))
    join_value = join(joining, what, values[0], values[-1])

    def finish(results: Iterator[Value]) -> Value:
        is_there, value = join_flag(results), join_value(results)
        return value if isinstance(value, Missing) else maybe(is_there, value)

    return finish


def _join_numbers(joining: Joining, what: str, one: Value, two: Value) -> Join:
    """Numbers whose types do not go together: which of them it is, and what it is then."""
    context = joining.context
    kinds = [
        kind
        for value in (one, two)
        for kind in ((value.value, value.other) if isinstance(value, Maybe) else (value,))
    ]
    first = kinds[0]
    others = [kind for kind in kinds if not _goes_with(context, kind, first)]
    if not all(_is_number(kind) for kind in kinds) or not all(
        _goes_with(context, kind, others[0]) for kind in others
    ):
        raise BranchesDiffer(what, describe(one), describe(two), context.span)
    mine = _as_choice(context, joining.first.scope, one, first, others[0])
    theirs = _as_choice(context, joining.second.scope, two, first, others[0])
    join_flag = _join_flags(joining, mine[0], theirs[0])
    join_first = _join_leaves(joining, what, mine[1], theirs[1])
    join_other = _join_leaves(joining, what, mine[2], theirs[2])
    return lambda results: maybe(join_flag(results), join_first(results), join_other(results))


def _as_choice(
    context: Context, scope: Scope, value: Value, first: Value, other: Value
) -> tuple[Scalar, Value, Value]:
    """Whether a number is of the first type, and what it is as one of either type: zero where it is none."""
    if isinstance(value, Maybe):
        is_first = value.is_there
        if _goes_with(context, value.value, first):
            return is_first, value.value, value.other
        with context.reopened(scope):
            return Scalar(context.builder.apply("not", is_first.atom)), value.other, value.value
    if _goes_with(context, value, first):
        return Scalar(TRUE), value, _zero_like(context, other)
    return Scalar(FALSE), _zero_like(context, first), value


def _zero_like(context: Context, value: Value) -> Scalar:
    return Scalar(context.constant(0, type_of(context, value)[0]), weakness(value))


def _is_number(value: Value) -> bool:
    return isinstance(value, Scalar) or is_number(value)


def _goes_with(context: Context, one: Value, two: Value) -> bool:
    """Whether two numbers are one number of a common type where two ways meet."""
    types = [type_of(context, value)[0] for value in (one, two)]
    dtype = promote(context, (one, two), "if")[0]
    kept = [type_ for type_, value in zip(types, (one, two), strict=True) if _keeps_type(value)]
    is_one = len(set(kept)) < 2 and not (dtype.is_float and any(type_.is_integer for type_ in kept))
    return len({type_ is BOOL for type_ in types}) == 1 and is_one


def _is_there(value: Value) -> Scalar:
    return value.is_there if isinstance(value, Maybe) else Scalar(FALSE if value is None else TRUE)


def _join_flags(joining: Joining, one: Scalar, two: Scalar) -> Join:
    """Whether a value is there; where it is on one way alone, this is the condition of the branch."""
    condition = joining.condition
    if one.atom == two.atom:
        return lambda _: one
    if (one.atom, two.atom) == (TRUE, FALSE):
        return lambda _: Scalar(condition)
    if (one.atom, two.atom) == (FALSE, TRUE):
        found = Scalar(joining.context.builder.apply("not", condition))
        return lambda _: found
    joining.slots.append(Slot(one, two, ArrayType(BOOL), False))
    return next


def _after(context: Context, way: Way, value: Value) -> Value:
    """A value as it is at the end of a way: an object that the way has changed, with what it holds then."""
    record = context.records.get(id(value))
    if record is not None and record.stale is not None:
        context.refuse(value, stale(python_name(value), record.stale, context.span))
    state = None if record is None else way.states.get(record)
    return with_state(value, state) if isinstance(state, dict) else staged_surroundings(context, value)


def _members(
    context: Context, value: Value, other: Value, is_made: bool, is_other_made: bool
) -> list[Value] | None:
    """The parts of an object that is joined with another: of an instance around the program as well, where
    the program made the other one, of the same class."""
    is_beside = not is_made and is_other_made and type(value) is type(other)
    if is_beside and children(value) is None and getattr(value, "__dict__", None):
        return [context.attribute_of(value, name) for name in attributes(value)]
    return members(value, is_made)


def _merged(joining: Joining, pair: tuple[Value, Value], like: Value, parts: list[Value]) -> Value:
    """A container with merged parts; two names of the same two containers are two names of one afterwards."""
    for mine, theirs, merged in joining.pairs:
        if mine is pair[0] and theirs is pair[1]:
            return merged
    merged = with_members(like, parts)
    if not isinstance(like, tuple | slice | Complex | RowList):
        joining.pairs.append((*pair, merged))
    if pair[0] is not pair[1]:
        joining.context.identities.stands_for(merged, pair, joining)
    return merged


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


def _join_leaves(joining: Joining, what: str, one: Value, two: Value) -> Join:
    """A number or array for two. An array whose length only a way knows comes in a buffer with its length."""
    context = joining.context
    if _is_number(one) and _is_number(two) and not _goes_with(context, one, two):
        return _join_numbers(joining, what, one, two)
    dtype, is_weak = promote_one(context, (one, two), "if")
    context.widenings += len({type_of(context, value)[0].is_float for value in (one, two)}) > 1
    shapes = [value.shape if isinstance(value, Array) else () for value in (one, two)]
    if len(shapes[0]) != len(shapes[1]) or not _goes_with(context, one, two):
        raise BranchesDiffer(what, describe(one), describe(two), context.span)
    room = _room(joining, *(shape[0] for shape in shapes)) if shapes[0] else None
    shape = [] if room is None else [room]
    for at, (left, right) in list(enumerate(zip(*shapes, strict=True)))[len(shape) :]:
        is_open = joining.may_differ and at == 0 and not is_same_size(context, left, right)
        size = _join_sizes(joining, left, right, is_open)
        if size is None and is_open:
            raise BranchesDiffer(f"the length of {what}", describe(one), describe(two), context.span)
        shape.append(_common_size(joining, what, one, two, left, right) if size is None else size)
    type_ = ArrayType(dtype, tuple(shape))
    joining.slots.append(Slot(one, two, type_, is_weak, is_padded=room is not None))
    if room is None:
        return next
    lengths = [Scalar(sizes[0]) for sizes in shapes]
    joining.slots.append(Slot(lengths[0], lengths[1], ArrayType(I64), False))
    return lambda results: _counted(context, next(results), next(results), room)


def _keeps_type(value: Value) -> bool:
    """Whether a number or array keeps its type in NumPy; a whole number of Python's may become a float."""
    return isinstance(value, Array | np.generic) or (isinstance(value, Scalar) and not value.is_weak)


def _common_size(joining: Joining, what: str, one: Value, two: Value, left: Size, right: Size) -> Size:
    """One size for two, of which the run checks that they are equal."""
    builders, span = (joining.first.scope.builder, joining.second.scope.builder), joining.context.span
    size = right if isinstance(left, Var) and builders[0].binds(left) else left
    if isinstance(size, Var) and any(builder.binds(size) for builder in builders):
        raise BranchesDiffer(f"the size of {what}", describe(one), describe(two), span)
    if isinstance(left, Const) and isinstance(right, Const) and left != right:
        raise BranchesDiffer(f"the shape of {what}", describe(one), describe(two), span)
    return size


def _join_sizes(joining: Joining, left: Size, right: Size, is_open: bool) -> Size | None:
    """A size where each way has its own; None where one may only have two names, which the run compares."""
    context, first, second = joining.context, joining.first.scope, joining.second.scope
    if not is_outside(first, left) or not is_outside(second, right) or is_same_size(context, left, right):
        return None
    may_be_one = not differ(context, left, right) and not sources(context, left) & sources(context, right)
    if may_be_one and TRIES_ROOMS not in context.grown and not is_open:
        return None
    size = context.builder.select(joining.condition, left, right)
    assert isinstance(size, Var)
    context.nonnegative.add(size)
    first.equal[size], second.equal[size] = left, right
    return size


def _room(joining: Joining, left: Size, right: Size) -> Size | None:
    """Room for the rows of both ways, where a way alone knows how many it has, and their most is known."""
    ways = ((joining.first.scope, left), (joining.second.scope, right))
    if all(is_outside(scope, size) for scope, size in ways):
        return None
    context, forms = joining.context, list[Affine]()
    for scope, size in ways:
        found = ceilings(context, context.builder.affine(size), partial(is_outside, scope))
        if found is None:
            return None
        forms += found
    return largest(context, forms, i64(0))


def _counted(context: Context, buffer: Value, length: Value, room: Size) -> Value:
    """The rows of a buffer that count."""
    assert isinstance(buffer, Array) and isinstance(length, Scalar) and isinstance(length.atom, Var)
    context.nonnegative.add(length.atom)
    context.most[length.atom] = (context.builder.affine(room),)
    found = context.wrap(first_rows(context.builder, context.read(buffer), length.atom))
    assert isinstance(found, Array)
    link(found.cell, buffer.cell.partners)
    return Array(found.cell, None, buffer.list_depth)


def _join_exit(joining: Joining) -> Callable[[Iterator[Value]], Exit]:
    one, two = joining.first.exit, joining.second.exit
    kinds = one.kinds | two.kinds
    join_value: Join = lambda _: None  # noqa: E731
    if RETURN in one.kinds and RETURN in two.kinds:
        join_value = join(joining, "the result", one.value, two.value)
    elif RETURN in kinds:
        value = one.value if RETURN in one.kinds else two.value
        join_value = join(joining, "the result", value, value)
    codes = [exit_.code for exit_ in (one, two) if exit_.kinds] or [one.code]
    if isinstance(codes[0], int) and all(code == codes[0] for code in codes):
        code = codes[0]
        return lambda results: Exit(code, kinds, join_value(results))
    one_code, two_code = (Scalar(i64(c) if isinstance(c, int) else c) for c in (one.code, two.code))
    joining.slots.append(Slot(one_code, two_code, ArrayType(i64(0).dtype), False))

    def finish(results: Iterator[Value]) -> Exit:
        value = join_value(results)
        found = next(results)
        assert isinstance(found, Scalar)
        return Exit(found.atom, kinds, value)

    return finish
