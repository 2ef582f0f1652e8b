"""Which carried arrays of a loop are states, updated in place, and how its return sweep gets their versions.

A carried array is a *state* if what an iteration gives back is the array it was given with places replaced: a
chain of updates, scatters, loops and branches leads from the one to the other, and no version is read after
it was overwritten. Arrays that an iteration exchanges with one another (`u, w = w, u`) are states as well. Of
a state nothing is stored but what its writes destroy. `ad.sweep.log` writes that down in the forward run, and
the return sweep (`ad.sweep.loop`, `ad.sweep.undo`) takes the state backwards, one write at a time, so that
each version stands in the array when the statements that read it are reversed.

The plan of a body says how its reversal begins, with the state as the body leaves it:

* SKIP: nothing is undone first. Scalars that statements of the body computed from the state are kept by the
  forward run; each link of the chain is undone as the sweep passes it. For bodies that hold further loops
  over the state, which would otherwise run once more on every level of the nest.
* UNDO: all writes of the body are undone first; nothing reads a later version.
* REDO: all writes are undone, the body runs again, and each link is undone again as the sweep passes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from anadrome.array_ir.build import UNNAMED, as_var
from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.induction import Step, induction_steps
from anadrome.array_ir.nodes import (
    Accumulate,
    ArrayType,
    Atom,
    Body,
    Const,
    If,
    Let,
    Loop,
    ParFor,
    Scatter,
    SumType,
    Type,
    Update,
    Var,
)
from anadrome.array_ir.walk import bodies, bound_in, expression_variables, free_variables, operands
from anadrome.dtypes import I64


class Mode(Enum):
    """How the reversal of a body begins; see above."""

    SKIP = "skip"
    UNDO = "undo"
    REDO = "redo"


@dataclass(slots=True, eq=False)
class Frame:
    """How often something runs: its executions are counted through the run of the whole loop, and what the
    n-th one keeps stands at place n of its logs.

    `trip` is how often it runs for each execution of the frame around it, None where only running tells. It
    is regular if that is the same number each time: place = place around · trip + iteration. Otherwise the
    counter is carried along, and the frame around keeps where it stood (`entry`) and how far it went
    (`count`).
    """

    around: Frame | None
    trip: Atom | None
    is_regular: bool
    entry: Var = field(default_factory=lambda: _key("entry", ArrayType(I64)))
    count: Var = field(default_factory=lambda: _key("count", ArrayType(I64)))


@dataclass(slots=True, eq=False)
class Link:
    """One statement of a chain. `moves`: which result of it is the next version of what (position, before,
    after); `logs`: the log of what each overwrites, where it writes itself; `places`: the logs of where that
    is (none: it can be computed again)."""

    let: Let
    moves: list[tuple[int, Var, Var]]
    logs: list[Var] = field(default_factory=list)
    places: list[list[Var]] = field(default_factory=list)
    frame: Frame | None = None
    loop: LoopPlan | None = None
    sides: tuple[BodyPlan, ...] = ()


@dataclass(slots=True, eq=False)
class BodyPlan:
    """A body that states pass through, from the versions `starts` to `ends`.

    `links`: the chain, in order. `plain`: statements that can run without the states, some of them
    (`tainted`) only with what is kept. `kept`: the scalars that others compute from the states, each with
    its log. `missing`: the arrays that others compute from the states. `reads`: what is kept of carried
    arrays that are no states, each with its log. `is_read`: whether a statement beside the links reads a
    version.
    """

    frame: Frame
    starts: list[Var]
    ends: list[Var]
    links: dict[Let, Link] = field(default_factory=dict)
    plain: list[Let] = field(default_factory=list)
    tainted: set[Let] = field(default_factory=set)
    reading: set[Let] = field(default_factory=set)
    kept: dict[Var, Var] = field(default_factory=dict)
    missing: set[Var] = field(default_factory=set)
    reads: dict[Var, Var] = field(default_factory=dict)
    is_read: bool = False
    mode: Mode = Mode.SKIP

    def channels(self) -> Iterator[tuple[Var, Frame]]:
        """Every log that is written in this body, nested ones included, with the frame that counts its
        places."""
        for key in (*self.kept.values(), *self.reads.values()):
            yield key, self.frame
        for link in self.links.values():
            for key in (*link.logs, *(key for keys in link.places for key in keys)):
                yield key, link.frame or self.frame
            if link.frame is not None and not link.frame.is_regular:
                yield link.frame.entry, self.frame
                yield link.frame.count, self.frame
            if link.loop is not None:
                yield from link.loop.channels()
            for side in link.sides:
                yield from side.channels()

    def counted(self) -> Iterator[Frame]:
        """The frames inside this body whose counters are carried along."""
        for link in self.links.values():
            if link.frame is not None and not link.frame.is_regular:
                yield link.frame
            if link.loop is not None:
                yield from link.loop.body.counted()
            for side in link.sides:
                yield from side.counted()


@dataclass(slots=True, eq=False)
class LoopPlan:
    """A loop, the positions of its states, and the other carried values that every iteration keeps, but for
    the `counters`, which follow from its number: where those begin, and their steps."""

    frame: Frame
    positions: list[int]
    entries: dict[Var, Var]
    body: BodyPlan
    counters: dict[Var, tuple[Atom, Step]] = field(default_factory=dict)

    def channels(self) -> Iterator[tuple[Var, Frame]]:
        """Every log written in the loop."""
        for key in self.entries.values():
            yield key, self.frame
        yield from self.body.channels()


def loop_plan(expr: Loop) -> LoopPlan:
    """The plan of a loop that stands in no chain itself: its iterations are the places of its logs."""
    return _Planner(expr).root(expr)


def counting_plan(expr: Loop) -> LoopPlan:
    """The plan of a loop of which nothing is wanted but how often it runs."""
    frame = Frame(None, expr.trip, True)
    return LoopPlan(frame, [], {}, BodyPlan(frame, [], []))


# ---------------------------------------------------------------------------- chains
def chain(body: Body, start: Var, end: Atom) -> list[tuple[Let, int, Var, Var]] | None:
    """The statements that lead from an array to an updated version of it, in order: each with the position of
    the result, the version before and the one after. None where there is no such chain."""
    links: list[tuple[Let, int, Var, Var]] = []
    places = {target: at for at, let in enumerate(body.lets) for target in let.targets}
    now = end
    while now is not start:
        if not isinstance(now, Var) or now not in places:
            return None
        let = body.lets[places[now]]
        position = let.targets.index(now)
        before = _before(let, position)
        if before is None:
            return None
        links.append((let, position, before, now))
        now = before
    links.reverse()
    return links if _is_linear(body, links, places) else None


def passed_on(let: Let, targets: Collection[Var]) -> list[Var]:
    """The arrays of which these results of a branch are updated versions, on both of its sides."""
    if not isinstance(let.expr, If):
        return []
    found = [_before(let, position) for position, target in enumerate(let.targets) if target in targets]
    return [var for var in found if var is not None and isinstance(var.type, ArrayType) and var.type.shape]


def _before(let: Let, position: int) -> Var | None:
    """The version that a result of a statement is an updated version of."""
    expr = let.expr
    match expr:
        case Update(array=array):
            return array if operands(expr).count(array) == 1 else None
        case ParFor():
            item = expr.part_of(position).item
            if not isinstance(item, Accumulate | Scatter):
                return None
            is_sole = operands(expr).count(item.init) == 1 and item.init.type.shape
            return item.init if is_sole else None
        case Loop():
            start = expr.init[position]
            if not isinstance(start, Var) or operands(expr).count(start) != 1 or not _is_plain(expr):
                return None
            is_read = any(start in free_variables(inner) for _, inner in bodies(expr))
            return start if not is_read and _is_state(expr, position) else None
        case If(then=then, other=other):
            origin = _origin(then, then.results[position])
            if isinstance(origin, Var) and all(
                chain(side, origin, side.results[position]) is not None for side in (then, other)
            ):
                return origin
            return None
        case _:
            return None


def _origin(body: Body, end: Atom) -> Atom | None:
    """What is bound around a body, or on entering it, that a result of it may be a version of."""
    own = {target: let for let in body.lets for target in let.targets}
    atom: Atom | None = end
    while isinstance(atom, Var) and atom in own:
        atom = _before(own[atom], own[atom].targets.index(atom))
    return atom


def _is_linear(body: Body, links: Sequence[tuple[Let, int, Var, Var]], places: Mapping[Var, int]) -> bool:
    """Whether no version is read once it was overwritten."""
    overwritten = {before: places[after] for _, _, before, after in links}
    if any(atom in overwritten for atom in body.results if isinstance(atom, Var)):
        return False
    first = min(overwritten.values(), default=len(body.lets))
    for at in range(first + 1, len(body.lets)):
        read = expression_variables(body.lets[at].expr)
        if any(overwritten.get(var, at) < at for var in read):
            return False
    return True


def _is_plain(expr: Loop) -> bool:
    """Whether a loop has no policy of its own for what it keeps."""
    return expr.checkpoint is None or expr.checkpoint == Checkpoint("all")


def _is_state(expr: Loop, position: int) -> bool:
    var = expr.carried[position]
    if not isinstance(var.type, ArrayType) or not var.type.shape:
        return False
    return chain(expr.body, var, expr.body.results[position]) is not None


def _states(expr: Loop) -> list[int]:
    """The carried arrays that an iteration gives back with places replaced, each in its own position or all
    of them exchanged with one another (`u, w = w, u`)."""
    places = {var: position for position, var in enumerate(expr.carried)}
    goes_to: dict[int, int] = {}
    for position, end in enumerate(expr.body.results):
        start = _origin(expr.body, end) if end.type.shape else None
        if not isinstance(start, Var) or start not in places or start.type != end.type:
            continue
        is_first = places[start] not in goes_to or places[start] == position
        if is_first and chain(expr.body, start, end) is not None:
            goes_to[places[start]] = position
    while lone := set(goes_to).symmetric_difference(goes_to.values()):
        goes_to = {source: end for source, end in goes_to.items() if lone.isdisjoint((source, end))}
    return sorted(goes_to)


# ---------------------------------------------------------------------------- plans
class _Planner:
    """Plans one loop and what its states pass through."""

    def __init__(self, expr: Loop) -> None:
        self.inside = {expr.index, *expr.carried, *bound_in(expr.body)}

    def root(self, expr: Loop) -> LoopPlan:
        """The plan of the whole loop."""
        positions = _states(expr)
        steps = induction_steps(expr)
        others = [
            var
            for position, var in enumerate(expr.carried)
            if position not in positions and position not in steps and isinstance(var.type, ArrayType)
        ]
        frame = Frame(None, expr.trip, True)
        entries = {var: _log(var.name, var.type) for var in others}
        starts = [expr.carried[position] for position in positions]
        ends = [as_var(expr.body.results[position]) for position in positions]
        counters = {expr.carried[position]: (expr.init[position], step) for position, step in steps.items()}
        return LoopPlan(frame, positions, entries, self.body(expr.body, starts, ends, frame, set()), counters)

    def body(
        self,
        body: Body,
        starts: list[Var],
        ends: list[Var],
        frame: Frame,
        missing: set[Var],
        *,
        in_branch: bool = False,
    ) -> BodyPlan:
        """The plan of one body; `missing`: arrays around it that the return sweep does not have either."""
        plan = BodyPlan(frame, starts, ends)
        moves: dict[Let, list[tuple[int, Var, Var]]] = {}
        versions = set(starts)
        for end in ends:
            start = _origin(body, end)
            found = chain(body, start, end) if isinstance(start, Var) else None
            assert found is not None, "a state has a chain"
            for let, position, before, after in found:
                moves.setdefault(let, []).append((position, before, after))
                versions.add(after)
        lost, tainted = set(missing), set[Var]()
        for let in body.lets:
            read = expression_variables(let.expr)
            if let in moves:
                link = plan.links[let] = Link(let, moves[let])
                self.link(link, frame, lost, in_branch)
            elif any(var in versions or var in lost for var in read):
                plan.reading.add(let)
                plan.is_read = plan.is_read or any(var in versions for var in read)
            else:
                plan.plain.append(let)
                if any(var in tainted for var in read):
                    plan.tainted.add(let)
                    tainted.update(let.targets)
                continue
            for target in let.targets:
                if target in versions or isinstance(target.type, SumType):
                    continue
                if target.type.shape:
                    plan.missing.add(target)
                    lost.add(target)
                else:
                    plan.kept[target] = _log(target.name, target.type)
                    tainted.add(target)
        plan.mode = _mode(body, plan)
        return plan

    def link(self, link: Link, frame: Frame, missing: set[Var], in_branch: bool) -> None:
        """Plan what is inside one link."""
        expr = link.let.expr
        match expr:
            case Update(indices=indices):
                ((_, before, _),) = link.moves
                assert isinstance(before.type, ArrayType)
                link.logs = [_log(before.name, before.type.row(len(indices)))]
            case ParFor():
                self.parfor(link, expr, frame, missing, in_branch)
            case If(then=then, other=other):
                starts = [before for _, before, _ in link.moves]
                for side in (then, other):
                    ends = [as_var(side.results[position]) for position, _, _ in link.moves]
                    found = self.body(side, starts, ends, frame, missing, in_branch=True)
                    link.sides += (found,)
            case Loop():
                self.loop(link, expr, frame, missing, in_branch)
            case _:
                raise AssertionError(f"{type(expr).__name__} is no link of a chain")

    def parfor(self, link: Link, expr: ParFor, frame: Frame, missing: set[Var], in_branch: bool) -> None:
        """Scatters and accumulations; places that the sweep cannot find without the states are logged."""
        link.frame = Frame(frame, expr.extent, self.is_regular(expr.extent, in_branch))
        unknown = missing | {var for _, before, after in link.moves for var in (before, after)}
        for position, before, _ in link.moves:
            part = expr.part_of(position)
            assert isinstance(part.item, Accumulate | Scatter) and isinstance(before.type, ArrayType)
            needed = free_variables(live_body(Body(expr.body.lets, part.at)))
            is_known = unknown.isdisjoint(needed)
            link.logs.append(_log(before.name, before.type.row(part.item.rank)))
            link.places.append([] if is_known else [_key("place", index.type) for index in part.at])

    def loop(self, link: Link, expr: Loop, frame: Frame, missing: set[Var], in_branch: bool) -> None:
        """A loop that takes states on."""
        positions = [position for position, _, _ in link.moves]
        inner = Frame(frame, expr.trip, expr.trip is not None and self.is_regular(expr.trip, in_branch))
        others = [
            var
            for position, var in enumerate(expr.carried)
            if position not in positions and isinstance(var.type, ArrayType)
        ]
        entries = {var: _log(var.name, var.type) for var in others if not var.type.shape}
        starts = [expr.carried[position] for position in positions]
        ends = [as_var(expr.body.results[position]) for position in positions]
        lost = missing | {var for var in others if var.type.shape}
        body = self.body(expr.body, starts, ends, inner, lost)
        link.frame = inner
        link.loop = LoopPlan(inner, positions, entries, body)

    def is_regular(self, trip: Atom, in_branch: bool) -> bool:
        """Whether something runs equally often each time."""
        return not in_branch and (isinstance(trip, Const) or trip not in self.inside)


# ---------------------------------------------------------------------------- how a body is reversed
def _mode(body: Body, plan: BodyPlan) -> Mode:
    """How to begin; the cheapest way that is possible."""
    can_skip = not plan.missing and all(
        not _lost_arrays(link) for link in plan.links.values() if link.loop is not None
    )
    if any(_reads_in_loop(link) for link in plan.links.values()):
        return Mode.SKIP if can_skip else Mode.REDO
    kept, written = _count_kept(plan), _count_writes(plan)
    if can_skip and kept <= 2 * written:
        return Mode.SKIP
    if not _reads_later(body, plan):
        return Mode.UNDO
    return Mode.SKIP if can_skip and kept <= 4 * written else Mode.REDO


def _lost_arrays(link: Link) -> bool:
    """Whether a loop carries arrays that are no states: they are kept in scratch memory when it runs
    again."""
    expr, plan = link.let.expr, link.loop
    assert isinstance(expr, Loop) and plan is not None
    return any(
        var.type.shape and isinstance(var.type, ArrayType) and position not in plan.positions
        for position, var in enumerate(expr.carried)
    )


def _reads(link: Link) -> bool:
    """Whether a link reads elements of the versions it passes on."""
    expr = link.let.expr
    match expr:
        case ParFor(body=body):
            inner = free_variables(body)
            return any(before in inner for _, before, _ in link.moves)
        case _:
            nested = [*link.sides, *([] if link.loop is None else [link.loop.body])]
            return any(plan.is_read or any(_reads(found) for found in plan.links.values()) for plan in nested)


def _reads_in_loop(link: Link) -> bool:
    """Whether a loop in a link reads the versions it passes on."""
    if link.loop is not None:
        return _reads(link)
    return any(_reads_in_loop(found) for side in link.sides for found in side.links.values())


def _reads_later(body: Body, plan: BodyPlan) -> bool:
    """Whether something reads a version that the body itself has written."""
    written = {after for link in plan.links.values() for _, _, after in link.moves}
    for let in body.lets:
        link = plan.links.get(let)
        if link is None:
            if any(var in written for var in expression_variables(let.expr)):
                return True
            continue
        if _reads(link) and any(before in written for _, before, _ in link.moves):
            return True
        expr = let.expr
        if isinstance(expr, If):
            pairs = zip((expr.then, expr.other), link.sides, strict=True)
            if any(_reads_later(side, found) for side, found in pairs):
                return True
    return False


def _count_kept(plan: BodyPlan) -> int:
    return len(plan.kept) + sum(_count_kept(side) for link in plan.links.values() for side in link.sides)


def _count_writes(plan: BodyPlan) -> int:
    inner = sum(_count_writes(side) for link in plan.links.values() for side in link.sides)
    return inner + sum(1 for link in plan.links.values() if not link.sides)


def _key(name: str, type_: Type) -> Var:
    """What a log is known by: a variable of the type of one entry."""
    return Var(name, type_)


def _log(name: str, type_: Type) -> Var:
    """The log of what has a name."""
    return _key(called(name, "log"), type_)


def called(name: str, what: str) -> str:
    """What the log or the snapshots of a variable are called."""
    return what if name in UNNAMED else f"{name}_{what}"
