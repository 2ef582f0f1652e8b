"""`ad.explain`: what a compiled function keeps and runs again, from the sizes of its arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, assert_never

import numpy as np

from anadrome.ad.kernels.residuals import Residual
from anadrome.ad.launch import KernelSweep
from anadrome.ad.mixed.choice import Choice
from anadrome.ad.sweep.residuals import LoopSweep
from anadrome.ad.sweep.schedule import repeats
from anadrome.api.call import Compiled
from anadrome.api.show import as_compiled
from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Atom, Body, Const, Let, Loop, Size, Var
from anadrome.array_ir.text import show_checkpoint
from anadrome.array_ir.walk import all_lets, let_variables
from anadrome.compile import Program, compile_function
from anadrome.config import Config
from anadrome.errors.base import Span
from anadrome.errors.tracebacks import door
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.prediction.footprint import Holding, footprint
from anadrome.prediction.symbolic_intervals import UNBOUNDED, Count, Number
from anadrome.prims.node import replace
from anadrome.schedule.cpu import Scheduled
from anadrome.schedule.report import Plan, way_kind

LISTED = 12
"""How many buffers are listed, the largest first."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A loop that is reversed with a checkpoint policy.

    Of `trip` iterations the states of `states` are kept, in `bytes` bytes, and `repeats` iterations are run
    once more, each one at least once to be reversed; where blocks of iterations are kept (`ad.sweep.blocks`)
    also once to write their log. None: it differs between the iterations of a loop around it. `is_counted`:
    the number of iterations depends on floats, and was counted by running the part of the program that
    decides it.
    """

    span: Span | None
    policy: str
    trip: int | None
    states: int | None
    bytes: int | None
    repeats: int | None
    is_counted: bool = False


@dataclass(frozen=True, slots=True)
class Loops:
    """What the loops of a call do, from the plan of its schedule.

    So many of them run `in_lanes`, on worker `threads` and `in_order`. They take at most so many `operations`
    (a product counts one, an exponential ten), and read and write at most so many bytes of arrays where every
    element is met once in each outermost loop. Outermost loops in which data decide how often something runs
    are left out of these figures, and `is_all` is false. What the routines of `calls` do is not counted.
    """

    in_lanes: int
    threads: int
    in_order: int
    operations: int
    read: int
    written: int
    is_all: bool
    calls: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The line of an explanation."""
        ways = ((self.in_lanes, "in lanes"), (self.threads, "on threads"), (self.in_order, "in order"))
        found = ", ".join(f"{count} {way}" for count, way in ways if count)
        moved = f"{show_bytes(self.read)} read, {show_bytes(self.written)} written"
        others = ["loops that only the run can count"] * (not self.is_all)
        others += [f"calls of {', '.join(self.calls)}"] * bool(self.calls)
        rest = f", beside {' and '.join(others)}" if others else ""
        return f"  loops: {found}; at most {self.operations:,} operations, {moved}{rest}"


Note = Sweep | Choice | KernelSweep | LoopSweep | Holding
"""What `explain` has to say of a line."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a call keeps: `str` of it is for people.

    `predicted` is the most bytes of arrays that it holds at once beside its arguments, and `measured` what a
    call did hold. `is_exact`: the sizes of the arguments decide it. Where the data have a part in it
    `predicted` is the most that it can be, or where nothing bounds that, `least`, the least that it can be;
    `formula` is then what is held when most is held, an expression of Python in names that `counts` explains.
    """

    name: str
    notes: tuple[Note, ...]
    predicted: int
    is_exact: bool
    measured: int | None = None
    least: int = 0
    is_bounded: bool = True
    formula: str = ""
    counts: Mapping[str, Count] = field(default_factory=dict)
    loops: Loops | None = None

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """The loops with a checkpoint policy."""
        return tuple(note for note in self.notes if isinstance(note, Sweep))

    @property
    def bodies(self) -> tuple[Choice, ...]:
        """The scalar bodies of parallel loops, and how reverse mode differentiates each."""
        return tuple(note for note in self.notes if isinstance(note, Choice))

    @property
    def kernels(self) -> tuple[KernelSweep, ...]:
        """The launches that are reversed: which values of the kernel are kept, and which recomputed."""
        return tuple(note for note in self.notes if isinstance(note, KernelSweep))

    @property
    def plans(self) -> tuple[LoopSweep, ...]:
        """The loops that are reversed, and what is kept of their iterations, and how; all else is computed
        again."""
        return tuple(note for note in self.notes if isinstance(note, LoopSweep))

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """What is held when most is held, the largest first."""
        return tuple(note for note in self.notes if isinstance(note, Holding))

    def _total(self) -> str:
        if self.is_exact:
            return f"at most {show_bytes(self.predicted)} at once"
        if self.is_bounded:
            span = f"{show_bytes(self.least)} to {show_bytes(self.predicted)}"
            return f"{span} at once, as the data decide"
        return f"at least {show_bytes(self.least)} at once; how much more, the data decide"

    def __str__(self) -> str:
        """The explanation as lines."""
        lines = [f"{self.name}: {self._total()}"]
        if not self.is_exact and self.counts:
            lines.append(f"  {self.formula} bytes when most is held, where")
            lines += [f"    {name} is {_bounded(count)}" for name, count in self.counts.items()]
        if self.measured is not None:
            lines.append(f"measured: {show_bytes(self.measured)}")
        if self.loops is not None:
            lines.append(str(self.loops))
        plans: tuple[Note, ...] = (*self.sweeps, *self.plans, *self.bodies, *self.kernels)
        shown: tuple[Note, ...] = (*plans, *self.holdings[:LISTED])
        lines += [_words(note) for note in shown]
        rest = self.holdings[LISTED:]
        if rest:
            lines.append(f"  and {len(rest)} more, {show_bytes(sum(held.bytes for held in rest))}")
        return "\n".join(lines)


@door
def explain(function: Callable[..., Any], *args: Any, measure: bool = False, **kwargs: Any) -> Explanation:
    """What `function(*args, **kwargs)` keeps in memory, and which iterations it runs again.

    `function` is a function, a compiled one or a transform such as `ad.grad(f)`. The figures come from the
    sizes of the arguments, without a call. With `measure`, and where a size depends on the elements of
    arrays, it is compiled once more so that it counts what it holds, and is called. Memory is that of the
    call itself: arrays it makes and gives back, not its arguments, nor the scratch of library routines.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> def run(u, steps):
    ...     for _ in ad.range(steps, checkpoint="log"):
    ...         u = u - 0.1 * u * u
    ...     return np.sum(u)
    >>> found = ad.explain(ad.grad(run), np.ones(1000), 1024)
    >>> found.sweeps[0].states, found.sweeps[0].bytes, found.sweeps[0].repeats
    (11, 88088, 3756)
    """
    compiled = as_compiled(function)
    recorded: dict[str, Program] = {}
    program = compiled.make(compiled.signature(args, kwargs), recorded.__setitem__)
    called, leaves, arrays = compiled.program(args, kwargs)
    for place, room in called.rooms.items():
        program.rooms[place].at_least(room.rows())
    values = program.arguments(leaves, arrays, is_looking=True)
    optimised = [fn for fn in recorded.values() if isinstance(fn, array_ir.Function)][-1]
    scheduled = recorded["schedule"]
    assert isinstance(scheduled, Scheduled)
    kernel = scheduled.function
    pairs = zip(kernel.params, values, strict=True)
    scalars = {param: _number(value) for param, value in pairs if isinstance(param, kernel_ir.Var)}
    found = footprint(kernel, scalars, compiled.options.config.workers)
    sizes = _Sizes(optimised, values, compiled.options.config)
    sweeps = tuple(_sweeps(sizes))
    known = (Choice, KernelSweep, LoopSweep)
    said = tuple(note for note in program.staged().notes if isinstance(note, known))
    notes: tuple[Note, ...] = (*sweeps, *said, *found.holdings)
    predicted = found.least if found.peak is None else found.peak
    explained = Explanation(
        compiled.__name__,
        notes,
        predicted,
        found.is_exact,
        least=found.least,
        is_bounded=found.peak is not None,
        formula=found.formula,
        counts=found.counts,
        loops=_loops(scheduled.plan, scalars, compiled.options.config.workers),
    )
    if not measure and found.is_exact:
        return explained
    return replace(explained, measured=_measured(compiled, args, kwargs))


def _number(value: Any) -> Number:
    number: Number = np.asarray(value).item()
    return number


def _measured(compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """The most bytes that a call held at once."""
    options = replace(compiled.options, config=replace(compiled.options.config, measure_memory=True))
    counting = compiled.with_options(options)
    program, leaves, arrays = counting.program(args, kwargs)
    for one in program.donated:
        leaves[one.leaf] = np.array(leaves[one.leaf])
    program.run(leaves, arrays)
    return program.executable.peak_bytes()


# ---------------------------------------------------------------------------- the plan
def _loops(plan: Plan, scalars: Mapping[kernel_ir.Var, Number], workers: int) -> Loops | None:
    """What the plan's loops come to; None where there are none."""
    if not plan.nests:
        return None
    params = {var: int(value) for var, value in scalars.items() if not var.dtype.is_float}
    sizes = plan.sizes(params, workers)
    ways = Counter(map(way_kind, plan.choices()))
    totals = [
        [sizes.of(form) for form in (nest.amounts.operations, nest.amounts.read, nest.amounts.written)]
        for nest in plan.nests
    ]
    operations, read, written = (
        sum(max(total or 0, 0) for total in column) for column in zip(*totals, strict=True)
    )
    is_all = all(total is not None for row in totals for total in row)
    return Loops(ways["lanes"], ways["threads"], ways["order"], operations, read, written, is_all, plan.calls)


# ---------------------------------------------------------------------------- loops with a policy
@dataclass(slots=True)
class _Sizes:
    """The sizes of one call: only what a size depends on is run."""

    fn: array_ir.Function
    values: list[Any]
    config: Config
    is_counted: bool = False

    def known(self, size: Atom, at: Mapping[Var, int] | None = None) -> int | None:
        """The value of a size, where it is the same in every iteration of the loops around it, or depends on
        none but the indices `at`."""
        if isinstance(size, Const):
            return int(size.value)
        fn, places = self.fn, at or {}
        lets = self.definitions(size, places)
        if lets is None:
            return None
        slice_ = live_body(Body(lets, (size,)))
        asked = array_ir.Function(fn.name, (*fn.params, *places), slice_)
        values = [*self.values, *(np.int64(place) for place in places.values())]
        if any(target.type.dtype.is_float for let in slice_.lets for target in let.targets):
            self.is_counted = True
            return int(compile_function(asked, self.config)(values)[0])
        return int(run(asked, values[len(fn.sizes) :]).results[0])

    def definitions(self, size: Var, places: Mapping[Var, int]) -> tuple[Let, ...] | None:
        """The statements that a size is computed by, at any depth, in order; None where an iteration has a
        part in it."""
        lets = tuple(all_lets(self.fn.body))
        by_target = {target: let for let in lets for target in let.targets}
        given = {*self.fn.params, *self.fn.sizes, *places}
        found: set[Let] = set()
        queue = [size]
        while queue:
            var = queue.pop()
            if var in given:
                continue
            if var not in by_target:
                return None
            let = by_target[var]
            if let not in found:
                found.add(let)
                queue += let_variables(let)
        return tuple(let for let in lets if let in found)

    def bytes(self, var: Var) -> int | None:
        """The bytes of an array."""
        sizes = [self.known(size) for size in var.type.shape]
        known = [size for size in sizes if size is not None]
        return None if len(known) < len(sizes) else prod(known) * var.type.dtype.bytes


def _sweeps(sizes: _Sizes) -> Iterator[Sweep]:
    for let in all_lets(sizes.fn.body):
        expr = let.expr
        if isinstance(expr, Loop) and expr.checkpoint is not None and expr.checkpoint.is_swept:
            yield _sweep(sizes, let, expr)


def _sweep(sizes: _Sizes, let: Let, expr: Loop) -> Sweep:
    """What is known of one return sweep; of one inside another loop only what is the same each time."""
    assert expr.trip is not None and expr.checkpoint is not None
    sizes.is_counted = False
    policy = show_checkpoint(replace(expr.checkpoint, is_swept=False, in_blocks=False)).strip()
    trip = sizes.known(expr.trip)
    stack = _stack(expr)
    states = sizes.known(stack[0].type.shape[0]) if stack else 0
    parts = [sizes.bytes(var) for var in stack]
    total = None if None in parts else sum(part or 0 for part in parts)
    again = None if trip is None or states is None else repeats(trip, states) if stack else trip
    inner = _block(expr) if expr.checkpoint.in_blocks else None
    if trip and again is not None and inner is not None:
        assert expr.index is not None
        first, last = (sizes.known(inner, {expr.index: place}) for place in (trip - 1, 0))
        if first is None or last is None:
            trip = again = None
        else:
            # the last block is run again once only; each runs forward once more, to write its log
            trip, again = (trip - 1) * first + last, (again - 1) * first + last
            again += trip
    return Sweep(let.span, policy, trip, states, total, again, sizes.is_counted)


def _block(expr: Loop) -> Size | None:
    """How many iterations a block has, of a sweep over blocks; None where that is known to be one."""
    for let in expr.body.lets:
        if isinstance(let.expr, Loop) and let.expr.trip is not None:
            return let.expr.trip
    return None


def _stack(expr: Loop) -> list[Var]:
    """The arrays among the carried values that the runs between snapshots go over: places, and states."""
    for let in expr.body.lets:
        if isinstance(let.expr, Loop) and let.expr.condition is not None:
            starts = [atom for atom in let.expr.init if isinstance(atom, Var) and atom.type.shape]
            found = [var for var in starts if var in expr.carried]
            if found:
                return found
    return []


# ---------------------------------------------------------------------------- words
def _words(note: Note) -> str:
    where = f"{note.span.file}:{note.span.line}" if note.span is not None else "no line"
    match note:
        case Sweep(policy=policy, trip=trip, states=states, bytes=held, repeats=again):
            if trip is None or states is None or held is None or again is None:
                figures = "states and iterations differ between the iterations of a loop around it"
                return f"  loop with {policy} ({where}): {figures}"
            how = " (counted by running)" if note.is_counted else ""
            runs = f"{trip:,} iterations{how}, {again:,} run again"
            return f"  loop with {policy} ({where}): {states:,} states in {show_bytes(held)}, {runs}"
        case Choice(inputs=inputs, mode=mode, costs=costs, is_forced=is_forced):
            ways = ", ".join(f"{way} {cost}" for way, cost in costs.items())
            why = "as asked" if is_forced else "the cheapest"
            body = f"body of {inputs} {'input' if inputs == 1 else 'inputs'} ({where})"
            return f"  {body}: {mode}, {why} of {ways} operations an element"
        case KernelSweep(kernel=kernel):
            held = note.bytes_per_thread
            size = "what only a launch knows" if held is None else show_bytes(held)
            lines = [f"  return sweep of the kernel `{kernel}` ({where}): each thread keeps {size}"]
            listed = sorted(note.residuals, key=lambda value: value.how != "kept")
            return "\n".join([*lines, *_listed(map(_residual, listed))])
        case LoopSweep(residuals=residuals):
            lines = [f"  return sweep of the loop ({where}):"]
            return "\n".join([*lines, *_listed(map(_residual, residuals))])
        case Holding(name=name, bytes=held, is_open=is_open):
            size = show_bytes(held) if held else "?"
            return f"  {'≤ ' * (is_open and held > 0) + size:>12}  {name} ({where})"
        case _:
            assert_never(note)


def _listed(lines: Iterable[str]) -> list[str]:
    """The first of some lines, each once."""
    found = Counter(lines)
    shown = [line if times == 1 else f"{line} ({times} times)" for line, times in found.items()]
    rest = len(found) - LISTED
    return [*shown[:LISTED], *([f"      and {rest} more"] if rest > 0 else [])]


def _residual(value: Residual) -> str:
    """A line of the plan of a kernel or loop."""
    where = f", line {value.span.line}" if value.span is not None else ""
    size = ""
    if value.bits:
        runs = "" if value.entries == 1 else " in each run of its loops"
        size = f", {'1 bit' if value.bits == 1 else show_bytes(value.bits // 8)}{runs}"
    name = value.name or "a value"
    return f"      {name}{where}: {value.how}{size}; {value.reason}"


def _bounded(count: Count) -> str:
    """What a count is, and at most how much."""
    return count.what if count.hi >= UNBOUNDED else f"{count.what}, at most {int(count.hi):,}"


def show_bytes(count: int) -> str:
    """A number of bytes for people.

    >>> show_bytes(999), show_bytes(88_088), show_bytes(64_000_000)
    ('999 B', '88.1 kB', '64.0 MB')
    """
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
