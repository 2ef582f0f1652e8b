"""What a run-time loop carries: names and parts of objects, at its start, in its body, and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import ArrayType, Atom, Size, Var, i64
from anadrome.array_ir.walk import let_variables
from anadrome.dtypes import BOOL, F64, I64, DType
from anadrome.errors.base import Span
from anadrome.errors.frontend import (
    RUN_TEXT,
    ChangesSize,
    ChangesStructure,
    ChangesType,
    FrontendError,
)
from anadrome.errors.objects import ChangesMerged
from anadrome.frontend.arrays import atom, boxed, describe, type_of, unboxed, weakness
from anadrome.frontend.carried import AxisKey, becomes_float, follow_start, is_python_number
from anadrome.frontend.carried import Key as LeafKey
from anadrome.frontend.complex_numbers.parts import complex_of, lifted, staged_surroundings
from anadrome.frontend.context import Context
from anadrome.frontend.exchanged import difference, gone_into, holds, leaves_of, merge, objects_exchanged
from anadrome.frontend.exchanged import inside as inside_of
from anadrome.frontend.growing import is_list, list_as_array
from anadrome.frontend.heap import (
    Stateful,
    changes_item,
    contents,
    in_containers,
    is_same_object,
    is_same_structure,
    refill,
)
from anadrome.frontend.iterables import size_of
from anadrome.frontend.loop_plan import LoopNode, Part, Plan, held_in, label_of
from anadrome.frontend.optional import placeholder_of
from anadrome.frontend.resizing import Resizing, begins
from anadrome.frontend.restarts import (
    Objects,
    RestartAsValue,
    RestartByReference,
    RestartExchanged,
    RestartListed,
    RestartOptional,
    RestartResized,
    RestartSteady,
    RestartStrided,
    RestartTwins,
    RestartWidened,
    RetypeLoop,
)
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.sharing import Turn, Turns, aliases, refuse_shared_writes
from anadrome.frontend.sizes import retype
from anadrome.frontend.structures import are_apart, shared
from anadrome.frontend.text_states import carried_number, exchange_texts, text_of
from anadrome.frontend.values import (
    CONTINUE,
    NEXT,
    UNKNOWN_LAYOUT,
    Array,
    Cell,
    Complex,
    Exit,
    Frame,
    Key,
    Maybe,
    Missing,
    Place,
    Record,
    Scalar,
    Scope,
    ScopeKind,
    Value,
    Weak,
    common_weak,
    is_staged,
    link,
    python_name,
)
from anadrome.frontend.views import common_layout, layout_of
from anadrome.frontend.writing import objects_become_items


@dataclass(slots=True, eq=False)
class Carried:
    """One carried name or part of an object: its leaves before the loop, the variables bound in the body, and
    its value there. What is carried by reference has no leaves: it is one object in every iteration."""

    place: Place
    name: str
    start: list[Value]
    atoms: list[Atom]
    variables: list[Var]
    weak: list[Weak]
    rebuild: Callable[..., Value]
    value: Value
    cells: list[Cell] = field(default_factory=list)
    ends: list[Array] = field(default_factory=list)
    end: Value = None
    turns_numpys: list[tuple[LeafKey, Var]] = field(default_factory=list)
    """Its numbers that begin as Python's and end as NumPy's."""
    stays_pythons: list[Atom] = field(default_factory=list)
    """What its numbers end with that begin and end as Python's."""


class Carrying:
    """What one attempt at staging a loop carries."""

    def __init__(
        self,
        context: Context,
        frame: Frame,
        node: LoopNode,
        plan: Plan,
        trip: Size | None,
        begin: Callable[[Var], None],
    ) -> None:
        self.context, self.frame, self.node, self.plan = context, frame, node, plan
        self.trip, self.begin = trip, begin
        self.index, self.code = Var("i", ArrayType(I64)), Var("code", ArrayType(I64))
        self.before: dict[Place, Value] = {}
        self.names_before = dict(frame.names)
        self.scope = Scope(
            ScopeKind.LOOP,
            context.builder.child(),
            context.scope,
            tick=context.tick,
            trip=trip,
            index=self.index,
            room=plan.room,
            is_counting=plan.is_counting,
            counted=plan.counted,
        )
        self.resizing = Resizing(context, self.scope, trip, self.index, plan.rooms)
        self.turns: list[Turn] = []
        self.broken: dict[str, Value] = {}
        self.twins = {cell for cell in plan.cells if cell.has_twins}
        plan.scope = self.scope

    def _carry(self, place: Place) -> Carried:
        with self.context.reopened(self._outer):
            value = self.before[place] = self._value(place)
        inside = self.plan.inside(self.context, place)
        start, rebuild = leaves_of(value, inside)
        carried = Carried(place, label_of(place), start, [], [], [], rebuild, value)
        if self.plan.is_by_reference(self.context, place, value) or not start:
            carried.start = []
            return carried
        step = self.plan.steps.get(place)
        if step is not None:
            carried.start, carried.value = [], self._stepped(value, step, self.index)
            return carried
        inner: list[Value] = []
        for position, leaf in enumerate(start):
            own = type_of(self.context, leaf)[0]
            key = (place, position)
            own = self.plan.types.get(key, F64 if key in self.plan.floats else own)
            name = place if isinstance(place, str) else "part"
            leader = (place, 0) if isinstance(value, Complex) else key
            if isinstance(leaf, Array) and self.resizing.axes_of(leader, leaf):
                var, begin, cell = self.resizing.carry(key, leader, name, leaf, own)
                carried.variables.append(var)
                carried.atoms.append(begin)
                carried.weak.append(False)
                inner.append(self._held(carried, leaf, cell))
                continue
            var = Var(name, ArrayType(own, leaf.shape if isinstance(leaf, Array) else ()))
            follow_start(self.context, var, self.scope, key, leaf)
            carried.variables.append(var)
            with self.context.reopened(self._outer):
                carried.atoms.append(atom(self.context, leaf, var.type.dtype))
            carried.weak.append(None if key in self.plan.types else weakness(leaf))
            if isinstance(leaf, Array):
                inner.append(self._held(carried, leaf, Cell(var, self.scope)))
            else:
                inner.append(Scalar(var, carried.weak[-1]))
        carried.value = rebuild(iter(inner))
        merge(self.context, carried.value, (value,), inside, place)
        self.context.identities.carries(carried.value, (value,), self.scope, inside)
        return carried

    def _held(self, carried: Carried, leaf: Array, cell: Cell) -> Array:
        """A carried array as it is in the body."""
        link(cell, aliases((leaf,)))
        is_strided = carried.place in self.plan.strided
        cell.layout = UNKNOWN_LAYOUT if is_strided else layout_of(leaf)
        cell.holds_items_of((leaf.cell,))
        cell.has_twins |= carried.place in self.plan.twins
        carried.cells.append(cell)
        return Array(cell, None, leaf.list_depth)

    def _stepped(self, start: Value, step: int, times: Atom) -> Value:
        """start + step·times: what grows by the same in every iteration."""
        builder = self.context.builder
        found = builder.size("add", atom(self.context, start, I64), builder.size("mul", i64(step), times))
        return size_of(found)

    def _is_steady(self, place: Place) -> bool:
        """Whether a place may grow by the same in every iteration: a length, or a position."""
        record = None if isinstance(place, str) else place[0]
        return isinstance(record, Record) and isinstance(record.owner, Stateful)

    def _step_of(self, carried: Carried, end: Atom, exit_: Exit) -> int | None:
        """By how much a carried number grows in every iteration of a counted loop, where it is the same."""
        if self.trip is None or not exit_.kinds <= {NEXT, CONTINUE} or not self._is_steady(carried.place):
            return None
        form = self.context.builder.affine(end)
        (start,) = carried.variables
        is_steady = form.terms == ((start, 1),) and carried.place not in self.plan.unsteady
        return form.constant if is_steady else None

    def _value(self, place: Place) -> Value:
        """What a carried place holds now."""
        value = held_in(self.frame, place)
        if place in self.plan.texts:
            return carried_number(self.context, self.scope, place, value, self.plan.texts[place])
        if place in self.plan.objects:
            value = gone_into(self.context, self.plan.objects[place], value)
        elif not isinstance(place, str):
            value = value if self.context.is_made(value) else staged_surroundings(self.context, value)
        if place in self.plan.listed:
            given, value = value, list_as_array(self.context, value)
            if isinstance(value, Array):
                objects_become_items(self.context, (value.cell,), given)
                record = self.context.records.get(id(given))
                value.cell.selves += [] if record is None else [record]
        value = shared(value) if place in self.plan.twins else value
        if place in self.plan.complex_places:
            value = complex_of(self.context, value)
        return self._optional(place, value)

    def _optional(self, place: Place, value: Value) -> Value:
        """What a place holds that is None in some iterations; any other value as it is."""
        found = self.plan.optional.get(place)
        if found is None:
            return value
        made = found.optional(self.context, value)
        if value is None:
            merge(self.context, made.value, (found.example,), self.plan.inside(self.context, place))
        return made

    def _set(self, place: Place, value: Value) -> None:
        """Let a carried place hold a value."""
        if place in self.plan.texts:
            value = text_of(self.context, value, self.plan.texts[place])
        if isinstance(place, str):
            self.frame.names[place] = value
            return
        record, key = place
        assert isinstance(record, Record)
        refill(record.owner, {**contents(record.owner), key: value})

    def _place_part(self, carried: Carried, exit_: Exit) -> Part:
        """What is carried: before the loop, at the end of an iteration, and after the loop."""
        context, place, name = self.context, carried.place, carried.name
        before, value = self.before[place], self._value(place)
        if place in self.plan.steps:
            return self._steady_part(carried, value, exit_)
        if not carried.variables:
            return self._kept_part(carried, value)
        inside = self.plan.inside(context, place)
        value = self._optional(place, lifted(context, value, inside))
        if isinstance(value, Complex) and not value.shape and is_python_number(before):
            raise RetypeLoop(self.scope, (place, 0), None)
        if isinstance(before, Complex) and not before.shape and is_python_number(value):
            value = complex_of(context, value)
        if isinstance(value, Missing):
            raise value.error(name, self._places(carried)[0])
        if are_apart(before) and not are_apart(value):
            raise RestartTwins(self.scope, place)
        value = value if are_apart(before) else shared(value)
        if not is_same_structure(before, value, inside):
            self._exchanges_objects(place, before, value)
            self._exchanges_list(place, before, value)
            self._becomes_optional(place, before, value)
            raise self._changes(carried, describe(before), describe(value), value)
        ended = leaves_of(value, inside)[0]
        leaves = [self._like(start, leaf) for start, leaf in zip(carried.start, ended, strict=True)]
        ends = [self._fit(carried, position, leaf) for position, leaf in enumerate(leaves)]
        step = self._step_of(carried, ends[0], exit_)
        if step is not None:
            raise RestartSteady(self.scope, place, step)
        carried.ends = _arrays(leaves)
        for cell, last in zip(carried.cells, carried.ends, strict=True):
            if cell.layout not in (UNKNOWN_LAYOUT, layout_of(last)):
                raise RestartStrided(self.scope, place)
            if last.cell.has_twins and not cell.has_twins:
                raise RestartTwins(self.scope, place)
        carried.end = value
        context.identities.ends(carried.value, value, inside)
        weak = [
            weakness(leaf)
            if self.plan.runs and type_of(context, leaf)[0] is BOOL
            else common_weak(mine, weakness(leaf))
            for mine, leaf in zip(carried.weak, leaves, strict=True)
        ]
        for position, (var, begins_weak, ends_weak) in enumerate(
            zip(carried.variables, carried.weak, weak, strict=True)
        ):
            if ends_weak:
                carried.stays_pythons.append(ends[position])
            elif begins_weak:
                carried.turns_numpys.append(((place, position), var))

        def settle(results: list[Atom]) -> None:
            found = [self.resizing.result((place, at), result) for at, result in enumerate(results)]
            cells = iter(carried.cells)
            turns = [
                Turn(next(cells) if isinstance(start, Array) else None, start, leaf)
                for start, leaf in zip(carried.start, leaves, strict=True)
            ]
            values = [self._result(*each) for each in zip(found, weak, turns, strict=True)]
            whole = carried.rebuild(iter(values))
            merge(self.context, whole, (before, value), inside)
            self.context.identities.carries(whole, (before, value), self, inside)
            self._set(place, whole)

        return Part(carried.variables, carried.atoms, ends, settle)

    def _exchanges_list(self, place: Place, before: Value, after: Value) -> None:
        """Where one list is exchanged for another: stage the loop with it as an array."""
        if place not in self.plan.listed and is_list(before) and is_list(after):
            raise RestartListed(self.scope, place)

    def _becomes_optional(self, place: Place, before: Value, after: Value) -> None:
        """Where a value is None before an iteration or after it: stage the loop with whether it is there."""
        if not self.plan.may_be_optional or place in self.plan.optional or isinstance(before, Maybe):
            return
        for objects in [self.plan.objects[place]] if place in self.plan.objects else [None, Objects()]:
            inside = in_containers if objects is None else inside_of(self.context, objects)
            found = placeholder_of(self.context, self.scope, before, after, inside)
            if found is not None:
                raise RestartOptional(self.scope, place, found, objects)

    def _exchanges_objects(self, place: Place, before: Value, after: Value) -> None:
        """Where an instance or a string is exchanged for another one: stage the loop with it carried."""
        exchange_texts(self.scope, place, before, after)
        if place not in self.plan.objects:
            found = objects_exchanged(self.context, before, after)
            if found is not None:
                raise RestartExchanged(self.scope, place, found)

    def _like(self, start: Value, leaf: Value) -> Value:
        """The end of an iteration as an array of no dimensions, or as a number, as it was before the loop."""
        if isinstance(start, Array) and not start.shape and not isinstance(leaf, Array):
            return boxed(self.context, atom(self.context, leaf))
        return leaf if isinstance(start, Array) else unboxed(self.context, leaf)

    def _steady_part(self, carried: Carried, value: Value, exit_: Exit) -> Part:
        """What grows by the same in every iteration is not carried; where it does not after all, it is."""
        place, step, builder = carried.place, self.plan.steps[carried.place], self.context.builder
        after = self._stepped(carried.value, step, i64(1))
        is_kept = exit_.kinds <= {NEXT, CONTINUE} and builder.affine(
            atom(self.context, value, I64)
        ) == builder.affine(atom(self.context, after, I64))
        if not is_kept:
            raise RestartSteady(self.scope, place, None)
        assert self.trip is not None
        trip, before = self.trip, self.before[place]
        return Part([], [], [], lambda results: self._set(place, self._stepped(before, step, trip)))

    def _kept_part(self, carried: Carried, value: Value) -> Part:
        """What every iteration must leave as it is: an object that is changed in place, or a static value."""
        before, place = carried.value, carried.place
        is_same = value is before or is_same_object(value, before)
        if place in self.plan.same and not is_same:
            raise RestartAsValue(self.scope, place)
        if not is_same and not self.context.is_made(before) and not leaves_of(before)[0]:
            is_same = is_same_structure(before, value)
        if not is_same and leaves_of(before)[0] and self.plan.may_turn(place):
            refusal = self._changes(carried, describe(before), describe(value), value)
            raise RestartByReference(self.scope, place, refusal)
        if not is_same:
            self._becomes_optional(place, before, value)
            self._exchanges_objects(place, before, value)
            raise self._changes(carried, describe(before), describe(value), value)
        return Part([], [], [], lambda results: self._set(place, before))

    def _cell_end(self, cell: Cell, var: Var) -> Atom:
        """What a written array is at the end of an iteration, under the type that it is carried with."""
        if cell.has_twins and cell not in self.twins:
            raise RestartTwins(self.scope, None)
        if cell.var.type.dtype is not var.type.dtype:
            raise RestartWidened(self.scope, cell, cell.var.type.dtype)
        return cell.var

    def _refuse_new_parts(self, before: Mapping[Record, Mapping[Key, Value]]) -> None:
        """An object with other parts after an iteration than before the loop cannot be carried."""
        for record, parts in before.items():
            now = contents(record.owner)
            if list(now) != list(parts):
                words = (f"a {python_name(record.owner)}", f"{len(parts)} parts", f"{len(now)} parts")
                self.context.grows(record.owner, ChangesStructure(*words, self._span_of(record)))

    def _span_of(self, record: Record) -> Span | None:
        return record.changed or self.context.span

    def _refuse_shared_changes(self, carried: Sequence[Carried]) -> None:
        """An object that is carried as a value, or was chosen for what is, must not be changed by another
        name in the loop, nor one of which the loop puts copies into a list."""
        changed = {one: record for record, _ in self.plan.parts for one in record.with_versions()}
        for one, record in changed.items():
            if one.items:
                self.context.refuse(record.owner, changes_item(record.owner, self._span_of(record)))
        for place in carried:
            if not place.variables:
                continue
            for value in (self.before[place.place], place.end):
                inside = self.plan.inside(self.context, place.place)
                kept = self.plan.objects.get(place.place, Objects())
                for one, record in changed.items():
                    if not kept.keeps(one.owner) and holds(value, one.owner, inside):
                        span = self._span_of(record)
                        self.context.refuse(record.owner, ChangesMerged(f"`{place.name}`", span))

    @property
    def _outer(self) -> Scope:
        assert self.scope.parent is not None
        return self.scope.parent

    def _result(self, found: Atom, is_weak: Weak, turn: Turn) -> Value:
        """What a name is after the loop: its array may be that before the loop, or one made elsewhere."""
        wrapped = self.context.wrap(found, is_weak)
        if isinstance(turn.end, Array) and isinstance(wrapped, Scalar):
            wrapped = boxed(self.context, found)
        if isinstance(wrapped, Array) and isinstance(turn.end, Array):
            ways = (turn.end,) if self.plan.runs else (turn.start, turn.end)
            wrapped.cell.layout = common_layout(_arrays(ways))
            wrapped.cell.holds_items_of(way.cell for way in _arrays(ways))
            wrapped = Array(wrapped.cell, None, turn.end.list_depth)
        turn.result = wrapped
        self.turns.append(turn)
        return wrapped

    def _is_outer(self, cell: Cell) -> bool:
        return cell.home is not self.scope and cell.home.depth <= self._outer.depth

    def _follow_numpys(self, carried: Sequence[Carried]) -> None:
        """A number of Python's that ends as NumPy's is NumPy's from the second iteration on. Where one that
        ends as Python's follows from it, the loop is staged with it as NumPy's."""
        kept = {end for one in carried for end in one.stays_pythons}
        for key, var in (turn for one in carried if kept for turn in one.turns_numpys):
            reached: set[Atom] = {var}
            for let in self.scope.builder.lets:
                if not reached.isdisjoint(let_variables(let)):
                    reached.update(let.targets)
            if not reached.isdisjoint(kept):
                raise RetypeLoop(self.scope, key, var.type.dtype)

    def _refuse_shared_writes(self, carried: Sequence[Carried]) -> None:
        turns = [
            Turn(cell, start, end)
            for one in carried
            for cell, start, end in zip(one.cells, _arrays(one.start), one.ends, strict=True)
        ]
        refuse_shared_writes(self.context, self.scope, Turns(turns, self._is_outer))

    def _fit(self, carried: Carried, position: int, leaf: Value) -> Atom:
        """The value at the end of an iteration under the type it is carried with, or an error."""
        context, var = self.context, carried.variables[position]
        (dtype, adapts), is_weak = type_of(context, leaf), weakness(leaf)
        shape = leaf.shape if isinstance(leaf, Array) else ()
        words = (_words(var.type.dtype, carried.start[position]), describe(leaf))
        if len(shape) != self._type_of(carried, position).rank:
            raise self._changes(carried, *words)
        key = (carried.place, position)
        if var.type.dtype is I64 and dtype.is_float and not shape:
            becomes_float(context, var, self.scope, key, self._changes(carried, *words))
        if (
            carried.weak[position]
            and not is_weak
            and dtype is not var.type.dtype
            and dtype.kind == var.type.dtype.kind
        ):
            raise RetypeLoop(self.scope, key, dtype)
        if carried.weak[position] and not is_weak and dtype is var.type.dtype and context.is_narrow:
            raise RetypeLoop(self.scope, key, dtype)
        if dtype is var.type.dtype is BOOL and carried.weak[position] not in (None, is_weak):
            raise RetypeLoop(self.scope, key, dtype)
        is_number_into_float = adapts and not shape and (var.type.dtype.is_float or dtype is var.type.dtype)
        if dtype is not var.type.dtype and not is_number_into_float:
            raise self._changes(carried, *words)
        found = atom(context, leaf, var.type.dtype)
        if not shape:
            return found
        assert isinstance(found, Var)
        return self._fit_size(carried, key, found)

    def _fit_size(self, carried: Carried, key: LeafKey, found: Var) -> Atom:
        """An array at the end of an iteration with the size that it is carried with."""
        context, name, plan, type_ = self.context, carried.name, self.plan, self._type_of(carried, key[1])
        resized = self.resizing.arrays.get(key)
        sizes = list(type_.shape)
        changed: list[AxisKey] = []
        for axis, (before, after) in enumerate(zip(type_.shape, found.type.shape, strict=True)):
            if resized is not None and axis in resized.axes:
                sizes[axis] = after
            elif (*key, axis) not in plan.fixed and begins(context, self.scope, before, after):
                changed.append((*key, axis))
        if changed and not plan.may_resize:
            raise ChangesSize(name, *self._places(carried))
        if changed:
            raise RestartResized(self.scope, dict.fromkeys(changed))
        changes = f"`{name}` changes its size inside the loop: {{1}} before an iteration, {{0}} after it"
        fitted = retype(context, found, ArrayType(type_.dtype, tuple(sizes)), f"`{name}`", changes)
        return fitted if resized is None else self.resizing.end(key, fitted)

    def _type_of(self, carried: Carried, position: int) -> ArrayType:
        """What a carried array is in the body."""
        resized = self.resizing.arrays.get((carried.place, position))
        type_ = carried.variables[position].type if resized is None else resized.first.type
        assert isinstance(type_, ArrayType)
        return type_

    def _find_rooms(self, carried: Sequence[Carried], exit_: Exit) -> None:
        """Stage the loop again where an array changes its size, with the room that it needs."""
        left = self.resizing.find_room(exit_)
        grown = next((key for key in left if self.resizing.depends(key)), None)
        if grown is not None:
            one = next(one for one in carried if one.place == grown[0])
            raise ChangesSize(one.name, *self._places(one), is_counted=self.trip is not None)
        if left:
            raise RestartResized(self.scope, {}, left)

    def _changes(self, carried: Carried, before: str, after: str, value: Value = None) -> FrontendError:
        """The error of what is another thing after an iteration, `value` where that is at hand."""
        if not isinstance(carried.place, str):
            return ChangesStructure(f"`{carried.name}`", before, after, self._places(carried)[0])
        help, start, name = "", self.before[carried.place], carried.name
        if before == after:
            path, start, value = difference(self.context, start, value)
            name, before, after = name + path, describe(start), describe(value)
            if path and type(value) is type(self.before[carried.place]):
                help = "put the values into a list: a chain of objects has another length in each iteration"
        if (before, after) == ("int64", "float64"):
            help = (
                f"start it as a float: `{name} = float({name})`"
                if is_staged(start)
                else f"it is used as an integer: round it, `{name} = int(...)`, or take another name"
            )
        elif RUN_TEXT in (before, after):
            help = "print its parts where they are made: `print(part, end='')`"
        elif isinstance(value, Missing) and isinstance(start, list | GrowingList):
            help = f"change the list that is there: `{name}.clear()` empties it"
        elif after.startswith("complex") and not before.startswith("complex"):
            made = f"complex({name})" if "(" not in after else f"{name}.astype(complex)"
            help = f"start it as a complex one: `{name} = {made}`"
        span, since = self._places(carried)
        return ChangesType(name, before, after, span, help, since)

    def _places(self, carried: Carried) -> tuple[Span | None, int]:
        """Where a name is assigned in the loop, and the line from which on it has the type before it."""
        if isinstance(carried.place, str):
            span = self.frame.assigned.get(carried.place, self.context.span)
            return span, self.plan.started.get(carried.place, self.node.lineno)
        record, _ = carried.place
        assert isinstance(record, Record)
        return self._span_of(record), self.node.lineno

    def _forget_names(self, carried: Sequence[Carried]) -> None:
        """Names the body assigned have no value after the loop, save those it carries."""
        frame, plan = self.frame, self.plan
        kept = {one.place for one in carried}
        after = frame.names
        frame.names = dict(self.names_before)
        for name in plan.assigned - kept:
            old, new = self.names_before.get(name), after.get(name)
            if name in self.names_before and old is new:
                continue
            is_read = name in frame.live_head.get(self.node, frozenset()) and name in self.names_before
            if name in self.names_before and name in frame.live[self.node]:
                exchange_texts(self.scope, name, old, new)
            if is_read and not isinstance(old, Missing):
                self._exchanges_objects(name, old, new)
                self._exchanges_list(name, old, new)
                self._becomes_optional(name, old, new)
                self.before[name] = old
                lost = Carried(name, name, [], [], [], [], next, old)
                raise self._changes(lost, describe(old), describe(new), new)
            help = f"give `{name}` a value before the loop"
            if isinstance(new, GrowingList) or (isinstance(new, Array) and new.list_depth):
                help += f" of the length that it has after it: `{name} = [0.0] * n`"
            frame.names[name] = Missing("assigned inside a loop that may not run at all", help)


def _arrays(leaves: Sequence[Value]) -> list[Array]:
    return [leaf for leaf in leaves if isinstance(leaf, Array)]


def _words(dtype: DType, start: Value) -> str:
    return describe(start) if isinstance(start, Array) and start.shape else dtype.numpy_name
