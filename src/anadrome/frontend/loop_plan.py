"""What a run-time loop carries, as far as its text says it, and what staging its body has taught."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.nodes import Atom, Var
from anadrome.dtypes import DType
from anadrome.errors.frontend import FrontendError
from anadrome.frontend.carried import AxisKey, Key, arrays_of, list_depth
from anadrome.frontend.complex_numbers.parts import staged_surroundings
from anadrome.frontend.context import Context
from anadrome.frontend.exchanged import inside, leaves_of
from anadrome.frontend.heap import contents, describe_part, in_containers
from anadrome.frontend.liveness import assigned_names, augmented_only, written_names
from anadrome.frontend.nonlocals import rebound_by_calls
from anadrome.frontend.restarts import (
    COUNTED,
    Counted,
    Objects,
    Restart,
    RestartAsValue,
    RestartByReference,
    RestartExchanged,
    RestartGrown,
    RestartListed,
    RestartLoop,
    RestartOptional,
    RestartResized,
    RestartSteady,
    RestartStrided,
    RestartTexts,
    RestartTwins,
    RestartWidened,
    RestartWindow,
    RetypeLoop,
    Room,
)
from anadrome.frontend.structures import Inside
from anadrome.frontend.values import (
    WHOLE,
    Cell,
    Frame,
    Holder,
    Missing,
    Place,
    Record,
    Scope,
    Value,
)
from anadrome.frontend.values import Key as HeapKey

LoopNode = ast.For | ast.While


@dataclass(slots=True, eq=False)
class Plan:
    """What is known of a loop before its body is staged, and what staging it has taught.

    `parts` are the parts of objects that the body changes. A name is carried as a value, a part that holds
    an object as a reference to it, which no iteration exchanges; those in `turned` the other way.
    """

    names: list[str]
    late: list[str]
    """Names that are read after the loop and have no value before it."""
    assigned: frozenset[str]
    runs: bool = False
    is_endless: bool = False
    cells: list[Cell] = field(default_factory=list)
    parts: list[tuple[Record, HeapKey]] = field(default_factory=list)
    room: dict[object, int] = field(default_factory=dict)
    steps: dict[Place, int] = field(default_factory=dict)
    unsteady: set[Place] = field(default_factory=set)
    is_counting: bool = False
    counted: dict[object, object] = field(default_factory=dict)
    listed: set[Place] = field(default_factory=set)
    """Lists that are exchanged for lists of other lengths, which are carried as arrays."""
    strided: set[Place] = field(default_factory=set)
    """Arrays whose layout in memory differs from iteration to iteration."""
    twins: set[Place | None] = field(default_factory=set)
    """Lists of which two items may be one array after an iteration."""
    optional: dict[Place, Any] = field(default_factory=dict)
    """What is None in some iterations, and its placeholder."""
    may_be_optional: bool = True
    turned: set[Place] = field(default_factory=set)
    objects: dict[Place, Objects] = field(default_factory=dict)
    """Places whose instances are exchanged for others."""
    texts: dict[Place, Sequence[str]] = field(default_factory=dict)
    """Places that hold one of several strings, which are known."""
    same: set[Place] = field(default_factory=set)
    """Places that hold one array in every iteration, as far as is known."""
    refusal: FrontendError | None = None
    """Why the loop cannot be staged with every array carried as a value."""
    complex_places: set[Place] = field(default_factory=set)
    types: dict[Key, DType] = field(default_factory=dict)
    floats: dict[Key, FrontendError | None] = field(default_factory=dict)
    rooms: dict[AxisKey, Room | None] = field(default_factory=dict)
    """The dimensions of arrays that change, and the room they need, where that is known."""
    fixed: set[AxisKey] = field(default_factory=set)
    """Dimensions that do not change, as the run checks."""
    may_resize: bool = True
    started: dict[str, int] = field(default_factory=dict)
    scope: Scope | None = None
    checkpoint: Checkpoint | None = None

    def learn(self, stopped: Restart) -> None:
        """What a body that could not be staged has shown."""
        match stopped:
            case RestartLoop(parts=parts):
                for holder, key in parts:
                    self._carry(holder, key)
            case RestartGrown(owner=owner):
                self.room[owner] = stopped.room(self.room.get(owner, 0))
            case RestartWidened() | RestartWindow():
                pass
            case RestartSteady(place=place, step=step):
                if step is None:
                    self.unsteady.add(place)
                    del self.steps[place]
                else:
                    self.steps[place] = step
            case RestartResized(rooms=rooms, fixed=fixed):
                self.rooms = {key: room for key, room in {**self.rooms, **rooms}.items() if key not in fixed}
                self.fixed.update(fixed)
            case Counted():
                self.is_counting = False
                self.room = dict.fromkeys(self.counted, COUNTED)
                self.parts = [part for part in self.parts if part[1] not in ("count", "last")]
            case RestartListed(place=place):
                self.listed.add(place)
                if isinstance(place, str) and place not in self.names:
                    self.names.append(place)
            case RestartAsValue(place=place):
                self.same.discard(place)
            case RestartStrided(place=place):
                self.strided.add(place)
            case RestartTwins(place=place):
                self.twins.add(place)
            case RestartOptional(place=place, placeholder=placeholder, objects=objects):
                self.optional[place] = placeholder
                self._exchange(place, objects)
            case RestartExchanged(place=place, objects=objects):
                self._exchange(place, objects)
            case RestartTexts(place=place, options=options):
                self.texts[place] = options
                self._exchange(place, None)
            case RestartByReference(place=place, instead=instead):
                if place in self.turned or place in self.objects:
                    raise instead
                self.turned.add(place)
            case RetypeLoop():
                self._retype(stopped)

    def _carry(self, holder: Holder, key: HeapKey) -> None:
        if isinstance(holder, Cell):
            self.cells.append(holder)
            return
        if key is WHOLE:
            self.parts = [part for part in self.parts if part[0] is not holder]
        self.parts.append((holder, key))

    def _exchange(self, place: Place, objects: Objects | None) -> None:
        """Carry a place as a value, and what is in its objects."""
        if objects is not None:
            self.objects[place] = objects
        if not isinstance(place, str):
            self.turned.add(place)
        elif place not in self.names:
            self.names.append(place)

    def inside(self, context: Context, place: Place) -> Inside:
        """The parts of what a place holds that the loop carries one by one."""
        found = self.objects.get(place)
        return in_containers if found is None else inside(context, found)

    def _retype(self, stopped: RetypeLoop) -> None:
        if stopped.dtype is None:
            self.complex_places.add(stopped.key[0])
        elif stopped.is_weak:
            self.floats[stopped.key] = stopped.instead
        else:
            self.types[stopped.key] = stopped.dtype

    def holders(self) -> list[Holder]:
        """The objects that the body changes."""
        return [*self.cells, *dict.fromkeys(record for record, _ in self.parts)]

    def keep_arrays(self, frame: Frame, refusal: FrontendError) -> bool:
        """After a refusal: stage the loop with names and parts that hold the same array in every iteration.
        False where that was tried before, or where there are none."""
        if self.refusal is not None:
            return False
        self.refusal = refusal
        for place in self.places():
            value = held_in(frame, place)
            if arrays_of(value) and not list_depth(value):
                self.same.add(place)
        return bool(self.same)

    def is_by_reference(self, context: Context, place: Place, value: Value) -> bool:
        """Whether a place holds one object in every iteration."""
        if place in self.same:
            return True
        if isinstance(place, str):
            return place in self.turned
        return context.is_made(value) and place not in self.turned

    def may_turn(self, place: Place) -> bool:
        """Whether a part that another object was put into may be carried as a value instead."""
        return not isinstance(place, str) and place not in self.turned

    def places(self) -> list[Place]:
        """All that is carried apart from arrays that are written: names, and parts of objects."""
        found: list[Place] = list(self.names)
        for record, key in self.parts:
            found += [(record, one) for one in (contents(record.owner) if key is WHOLE else (key,))]
        return found


@dataclass(slots=True, eq=False)
class Part:
    """One group of a loop's carried values: variables, starts, ends, and what to do with the results."""

    variables: list[Var]
    starts: list[Atom]
    ends: list[Atom]
    settle: Callable[[list[Atom]], None]


def make_plan(context: Context, frame: Frame, node: LoopNode, runs: bool) -> Plan:
    """What the text of the loop says it carries. `runs`: it is known to run at least once."""
    target = assigned_names([node.target]) if isinstance(node, ast.For) else frozenset()
    assigned = assigned_names(node.body) | target | rebound_by_calls(frame, [node])
    needed = assigned & (frame.live_head.get(node, frozenset()) | frame.live[node])
    changed_in_place = augmented_only(node)
    names, late = [], []
    for name in sorted(needed & frame.names.keys()):
        frame.names[name] = staged_surroundings(context, frame.names[name])
    for name in sorted(needed):
        value = frame.names.get(name, Missing("not assigned before the loop"))
        if isinstance(value, Missing):
            late.append(name)
        elif name in changed_in_place and arrays_of(value) and not list_depth(value):
            continue
        elif leaves_of(value)[0]:
            names.append(name)
    plan = Plan(names, late, assigned, runs)
    lines = {name: frame.assigned[name].line for name in assigned if name in frame.assigned}
    plan.started = {name: line for name, line in lines.items() if line < node.lineno}
    for name in sorted((written_names(node.body) | changed_in_place) - set(names)):
        for array in arrays_of(frame.names.get(name)):
            if not array.cell.is_argument and array.cell not in plan.cells:
                plan.cells.append(array.cell)
    return plan


def label_of(place: Place) -> str:
    """What a user calls a carried place."""
    if isinstance(place, str):
        return place
    record, key = place
    assert isinstance(record, Record)
    return describe_part(record, key)


def held_in(frame: Frame, place: Place) -> Value:
    """What a carried place holds now; `Missing` where there is nothing."""
    if isinstance(place, str):
        return frame.names.get(place, Missing("deleted in the loop"))
    record, key = place
    assert isinstance(record, Record)
    return contents(record.owner).get(key, Missing("removed in the loop"))
