"""How much memory a program will hold, from the numbers it is called with: no array is touched.

Only what the sizes of its buffers depend on is run (`sizing`): sizes, the loops that compute them, the
branches and loops that allocate. An iteration of a loop whose sizes do not change stands for all of them, and
memory that belongs to a worker is counted once for each. Swapped buffers are of one size.

What the data decide is a number with bounds (`open_numbers`). A loop whose iterations, or what they add, only
the run knows is run twice on bounds: once to see by how much each iteration changes what it stores, once
with the bounds that follow. Of a branch that may or may not be taken both sides are run. So the peak has a
least and a largest value, which are equal where sizes decide, and a formula in what the run will count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.errors.base import Span
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
    Compute,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    Free,
    Function,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Swap,
    Var,
    While,
    Workers,
)
from anadrome.kernel_ir.walk import bodies, buffers, expressions, offset_of, statements
from anadrome.prediction.sizing import deciding, is_heap, names_of, readable
from anadrome.prediction.symbolic_intervals import (
    UNBOUNDED,
    Count,
    Number,
    Operation,
    Value,
    anything,
    apply,
    bounds,
    call,
    counts,
    formula,
    growth,
    known,
)

LONGEST_RUN = 300_000
"""Statements of loops that are run to learn a size; what takes more has bounds only."""

ELEMENT = "a number that the data decide"
HITS = "how often a condition on the data holds in a loop"
ITERATIONS = "the iterations of a loop that ends by what it computes"
Elements = dict[int, Value] | None
"""What a buffer is known to hold; None: it may hold anything."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A buffer that is held when most is held: its name, its bytes, and the line that asks for it.

    Where the data decide its size `bytes` is the most it can be (0 where nothing bounds it).
    """

    name: str
    bytes: int
    span: Span | None
    size: Value = 0

    @property
    def is_open(self) -> bool:
        """Whether the data decide its size."""
        return known(self.size) is None


@dataclass(frozen=True, slots=True)
class Footprint:
    """The most bytes held at once, and by what.

    `least` ≤ the bytes of any call ≤ `peak`, and they are equal where `is_exact`; `peak` is None where
    nothing bounds it. `formula` is an expression for what is held when most is held, in names of `counts`.
    """

    least: int
    peak: int | None
    holdings: tuple[Holding, ...]
    formula: str
    counts: Mapping[str, Count]

    @property
    def is_exact(self) -> bool:
        """Whether the sizes decide."""
        return self.least == self.peak


def footprint(fn: Function, scalars: Mapping[Var, Number], workers: int) -> Footprint:
    """What a call of a host program will hold at most beside its arguments; `scalars` are its parameters."""
    followed = readable(fn)
    run = _Run(dict(scalars), workers, deciding(fn, followed), followed)
    run.block(fn.body)
    return _found(run)


def _found(run: _Run) -> Footprint:
    names: dict[Count, str] = {}
    fixed, parts, holdings = 0, [], []
    for holding in sorted(run.most, key=lambda holding: -bounds(holding.size)[1]):
        lo, hi = map(int, bounds(holding.size))
        if lo == hi:
            fixed += lo
        else:
            parts.append(formula(holding.size, names))
        size = hi if hi < UNBOUNDED else 0
        holdings.append(Holding(holding.name, size, holding.span, holding.size))
    text = " + ".join([str(fixed)] * bool(fixed or not parts) + parts)
    peak = None if run.peak >= UNBOUNDED else run.peak
    holdings.sort(key=lambda holding: -holding.bytes)
    return Footprint(run.least, peak, tuple(holdings), text, {name: count for count, name in names.items()})


# ---------------------------------------------------------------------------- the run
@dataclass(slots=True)
class _Run:
    """Numbers and their bounds, bytes held now, and the most there ever were."""

    values: dict[Var, Value]
    workers: int
    deciding: set[Stmt]
    followed: set[Buffer]
    elements: dict[Buffer, Elements] = field(default_factory=dict)
    held: dict[Buffer, Holding] = field(default_factory=dict)
    copies: Value = 1
    peak: int = 0
    least: int = 0
    most: tuple[Holding, ...] = ()
    stores: dict[Stmt, tuple[Buffer, ...]] = field(default_factory=dict)
    varied: dict[Stmt, bool] = field(default_factory=dict)
    is_rehearsal: bool = False
    """Whether nothing is counted: what a loop stores is to be learnt."""
    steps: int = 0

    def value(self, expr: Expr) -> Value:
        """What is known of an expression."""
        match expr:
            case Var(dtype=dtype):
                found = self.values.get(expr)
                return anything(dtype, ELEMENT) if found is None else found
            case Const(value=value):
                return value
            case Workers():
                return self.workers
            case Load(buffer=buffer, indices=indices):
                elements = self.elements.get(buffer) if buffer in self.followed else None
                place = known(self.value(offset_of(buffer, indices))) if elements else None
                found = None if elements is None or place is None else elements.get(int(place))
                return anything(buffer.dtype, ELEMENT) if found is None else found
            case Compute(prim=prim, args=args):
                return apply(prim, tuple(map(self.value, args)))
            case _:
                assert_never(expr)

    def block(self, body: Iterable[Stmt]) -> None:
        """The deciding statements of a body."""
        for stmt in body:
            if stmt in self.deciding:
                self.steps += 1
                self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        """One deciding statement."""
        match stmt:
            case Let(var=var, value=value):
                self.values[var] = self.value(value)
            case Alloc(buffer=buffer):
                if buffer in self.followed:
                    self.elements[buffer] = {}
                if buffer.space is Space.GLOBAL:
                    self.allocate(stmt)
            case Free(buffer=buffer):
                self.held.pop(buffer, None)
            case Store() | Fill() | Copy() | Swap():
                self.write(stmt)
            case If(condition=condition, then=then, other=other):
                self.branch(self.value(condition), then, other)
            case For():
                self.loop(stmt)
            case While():
                self.repeat(stmt)
            case _:
                pass

    # ------------------------------------------------------------------ memory
    def allocate(self, stmt: Alloc) -> None:
        """Hold a buffer from here on."""
        if self.is_rehearsal:
            return
        each = call("mul", self.copies, stmt.buffer.dtype.bytes)
        size = call("mul", call("max", self.value(stmt.size), 0), each)
        self.held[stmt.buffer] = Holding(stmt.buffer.name, 0, stmt.span, size)
        pairs = [bounds(holding.size) for holding in self.held.values()]
        self.least = max(self.least, int(sum(lo for lo, _ in pairs)))
        total = int(sum(hi for _, hi in pairs))
        if total > self.peak:
            self.peak, self.most = total, tuple(self.held.values())

    def write(self, stmt: Store | Fill | Copy | Swap) -> None:
        """A statement that changes elements of buffers that are followed."""
        match stmt:
            case Store(buffer=buffer, indices=indices, value=value) if buffer in self.followed:
                self.put(buffer, known(self.value(offset_of(buffer, indices))), self.value(value))
            case Fill(buffer=buffer, size=size, value=value) if buffer in self.followed:
                count, filled = known(self.value(size)), self.value(value)
                self.put_all(buffer, None if count is None else [filled] * int(count))
            case Copy(target=target, source=source, size=size) if target in self.followed:
                count, given = known(self.value(size)), self.elements.get(source)
                is_known = count is not None and given is not None
                missing = anything(source.dtype, ELEMENT)
                row = [(given or {}).get(place, missing) for place in range(int(count or 0))]
                self.put_all(target, row if is_known else None)
            case Swap(first=first, second=second):
                one, other = self.elements.get(first), self.elements.get(second)
                self.elements[first], self.elements[second] = other, one
            case _:
                pass

    def put(self, buffer: Buffer, place: Number | None, value: Value) -> None:
        """Write one element; what is written at an unknown place may be anywhere."""
        elements = self.elements.get(buffer)
        if place is None or elements is None:
            self.elements[buffer] = None
        else:
            elements[int(place)] = value

    def put_all(self, buffer: Buffer, values: list[Value] | None) -> None:
        """Write the first elements."""
        elements = self.elements.get(buffer)
        if values is None or elements is None:
            self.elements[buffer] = None
        else:
            self.steps += len(values) // 10
            elements.update(enumerate(values))

    def snapshot(self) -> dict[Buffer, Elements]:
        """What every buffer holds now."""
        return {
            buffer: None if elements is None else dict(elements) for buffer, elements in self.elements.items()
        }

    # ------------------------------------------------------------------ branches
    def branch(self, condition: Value, then: tuple[Stmt, ...], other: tuple[Stmt, ...]) -> None:
        """A branch; both sides where it is not known which one runs."""
        choice = known(condition)
        if choice is not None:
            self.block(then if choice else other)
            return
        elements, held, least = self.snapshot(), dict(self.held), self.least
        self.block(then)
        after, kept, first = self.elements, self.held, self.least
        self.elements, self.held, self.least = elements, held, least
        self.block(other)
        self.least = min(first, self.least)
        self.elements = {
            buffer: _either(condition, after.get(buffer), self.elements.get(buffer), buffer)
            for buffer in {**after, **self.elements}
        }
        self.held = {
            buffer: _either_holding(condition, kept.get(buffer), self.held.get(buffer))
            for buffer in {**kept, **self.held}
        }

    # ------------------------------------------------------------------ loops
    def loop(self, stmt: For) -> None:
        """A `for`: every iteration where sizes may change in it, else the first."""
        lo, hi = self.value(stmt.lo), self.value(stmt.hi)
        trip = call("sub", hi, lo)
        if bounds(trip)[1] <= 0:
            return
        outer = self.copies
        if stmt.binding is Binding.THREADS:
            self.copies = call("mul", outer, call("max", call("min", self.workers, trip), 1))
        first, last = known(lo), known(hi)
        if first is None or last is None:
            self.widened(stmt, trip)
        elif not self.varies(stmt) or last - first == 1:
            self.values[stmt.index] = first
            self.block(stmt.body)
        elif not self.is_fill(stmt, int(first), int(last)):
            self.iterations(stmt, int(first), int(last))
        self.copies = outer

    def iterations(self, stmt: For, first: int, last: int) -> None:
        """All iterations, one by one; bounds for all of them where the data decide what they store."""
        before = self.snapshot()
        for index in range(first, last):
            self.values[stmt.index] = index
            self.block(stmt.body)
            if index == first and self.is_open(stmt):
                self.elements = before
                self.widened(stmt, last - first)
                return
            if self.steps > LONGEST_RUN:
                self.widened(stmt, last - index)
                return

    def is_fill(self, stmt: For, first: int, last: int) -> bool:
        """Whether the loop only writes one value at places in a row, which is done here."""
        match stmt.body:
            case (Store(buffer=buffer, indices=indices, value=value),):
                offset = offset_of(buffer, indices)
            case _:
                return False
        row: Value = 0
        match offset:
            case Var() if offset is stmt.index:
                pass
            case Compute(prim=prim, args=(around, place)) if prim.name == "add" and place is stmt.index:
                row = self.value(around)
                if stmt.index in names_of((around,)):
                    return False
            case _:
                return False
        elements, start = self.elements.get(buffer), known(row)
        if elements is None or start is None or not {stmt.index, buffer}.isdisjoint(names_of((value,))):
            return False
        self.steps += (last - first) // 10
        elements.update(dict.fromkeys(range(int(start) + first, int(start) + last), self.value(value)))
        return True

    def repeat(self, stmt: While) -> None:
        """A `while`: to its end where that can be told, else one iteration on bounds."""
        before = self.snapshot()
        while True:
            self.block(stmt.prelude)
            goes_on = known(self.value(stmt.condition))
            if goes_on is not None and not goes_on:
                return
            if goes_on is None:
                self.elements = before
                break
            if self.steps > LONGEST_RUN:
                break
            self.block(stmt.body)
        self.widened(stmt, Count(0, UNBOUNDED, ITERATIONS))

    def widened(self, stmt: For | While, trip: Value) -> None:
        """A loop of `trip` iterations, all of them at once, on bounds for what it stores."""
        if isinstance(stmt, For):
            lo, hi = bounds(self.value(stmt.lo))[0], bounds(self.value(stmt.hi))[1]
            self.values[stmt.index] = Count(lo, max(lo, hi - 1), "the number of an iteration")
        before, held, least = self.snapshot(), dict(self.held), self.least
        starts = {
            buffer: Count(*bounds(anything(buffer.dtype, "")), "")
            for buffer in self.written(stmt)
            if buffer.space is Space.LOCAL
        }
        after, condition = self.rehearsed(stmt, starts)
        if isinstance(stmt, While):
            trip = Count(0, _longest(condition, starts, before, after), ITERATIONS)
        heads: dict[Buffer, Value] = {}
        ends: dict[Buffer, Value] = {}
        asked = statements(stmt.prelude) if isinstance(stmt, While) else ()
        restless = {buffer for part in asked if isinstance(part, Store) for buffer in buffers(part)}
        for buffer, start in starts.items():
            if buffer in restless:
                heads[buffer] = ends[buffer] = anything(buffer.dtype, ELEMENT)
                continue
            change = _change(_one(before.get(buffer)), start, _one(after.get(buffer)), trip, stmt)
            heads[buffer], ends[buffer] = change or (anything(buffer.dtype, ELEMENT),) * 2
        self.enter(stmt, heads)
        self.once(stmt)
        runs = call("gt", trip, 0)
        if known(runs) is None:
            self.least = least
            self.held = {
                buffer: _either_holding(runs, self.held.get(buffer), held.get(buffer))
                for buffer in {**self.held, **held}
            }
        self.enter(stmt, ends)

    def rehearsed(
        self, stmt: For | While, starts: Mapping[Buffer, Value]
    ) -> tuple[dict[Buffer, Elements], Value]:
        """What one iteration makes of the buffers, and what a `while` asks before it; nothing is counted."""
        outer, elements, held = self.is_rehearsal, self.elements, dict(self.held)
        self.is_rehearsal, self.elements = True, self.snapshot()
        self.enter(stmt, starts)
        condition = self.once(stmt)
        after = self.elements
        self.is_rehearsal, self.elements, self.held = outer, elements, held
        return after, condition

    def once(self, stmt: For | While) -> Value:
        """One iteration, and the condition of a `while` before it."""
        condition: Value = True
        if isinstance(stmt, While):
            self.block(stmt.prelude)
            condition = self.value(stmt.condition)
        self.block(stmt.body)
        if isinstance(stmt, While):
            self.block(stmt.prelude)
        return condition

    def enter(self, stmt: For | While, scalars: Mapping[Buffer, Value]) -> None:
        """Numbers with bounds for the scalars that a loop stores; arrays hold anything."""
        for buffer in self.written(stmt):
            self.elements[buffer] = {0: scalars[buffer]} if buffer in scalars else None

    # ------------------------------------------------------------------ what loops do
    def written(self, stmt: For | While) -> tuple[Buffer, ...]:
        """The buffers from outside that a loop writes, at any depth, and that are followed."""
        if stmt not in self.stores:
            inner = [part for body in bodies(stmt) for part in statements(body)]
            inside = {part.buffer for part in inner if isinstance(part, Alloc)}
            found: dict[Buffer, None] = {}
            for part in inner:
                if part in self.deciding and isinstance(part, Store | Fill | Copy | Swap):
                    found.update(dict.fromkeys(buffers(part)))
            self.stores[stmt] = tuple(b for b in found if b in self.followed and b not in inside)
        return self.stores[stmt]

    def is_open(self, stmt: For) -> bool:
        """Whether the data decide something that a loop has stored."""
        return any(
            elements is None or any(known(element) is None for element in elements.values())
            for elements in map(self.elements.get, self.written(stmt))
        )

    def varies(self, stmt: For) -> bool:
        """Whether sizes differ between iterations: they read the index, or what iterations store."""
        if stmt not in self.varied:
            own = [part for part in statements(stmt.body) if part in self.deciding]
            made = {part.buffer for part in statements(stmt.body) if isinstance(part, Alloc)}
            stored = {buffer for part in own if not is_heap(part) for buffer in buffers(part)}
            read = {name for part in own for name in names_of(expressions(part))}
            self.varied[stmt] = stmt.index in read or not read.isdisjoint(stored - made)
        return self.varied[stmt]


# ---------------------------------------------------------------------------- bounds of loops and branches
def _one(elements: Elements) -> Value | None:
    return None if elements is None else elements.get(0)


def _change(
    before: Value | None, start: Count, after: Value | None, trip: Value, stmt: For | While
) -> tuple[Value, Value] | None:
    """A scalar in any iteration of a loop, and after it; `after` is what an iteration makes of `start`.

    With after = start + d, l ≤ d ≤ h, and t iterations,

        before + min(l, 0)·t ≤ scalar ≤ before + max(h, 0)·t
    """
    step = None if before is None or after is None else growth(after, start)
    if before is None or step is None:
        return None
    lo, hi = bounds(before)
    least, most = bounds(trip)[1] * min(step[0], 0), bounds(trip)[1] * max(step[1], 0)
    head = Count(lo + least, hi + most, ELEMENT)
    if step[0] == step[1]:
        return head, call("add", before, call("mul", trip, step[0]))
    what = HITS if isinstance(stmt, For) and step == (0, 1) else ELEMENT
    return head, Count(lo + least, hi + most, what)


def _longest(
    condition: Value,
    starts: Mapping[Buffer, Count],
    before: Mapping[Buffer, Elements],
    after: Mapping[Buffer, Elements],
) -> Number:
    """The most iterations of a `while` that ends when x < b does not hold, where each adds 1 or more to x."""
    match condition:
        case Operation(prim=prim, args=args) if prim.name == "and":
            return min(_longest(arg, starts, before, after) for arg in args)
        case Operation(prim=prim, args=(_, then, False)) if prim.name == "select":
            return _longest(then, starts, before, after)
        case Operation(prim=prim, args=(left, limit)) if prim.name == "lt":
            pass
        case _:
            return UNBOUNDED
    for buffer, start in starts.items():
        first, next_ = _one(before.get(buffer)), _one(after.get(buffer))
        step = None if next_ is None else growth(next_, start)
        is_free = not set(counts(limit)).intersection(starts.values())
        if left is start and first is not None and step is not None and step[0] >= 1 and is_free:
            return max(0, bounds(limit)[1] - bounds(first)[0])
    return UNBOUNDED


def _either(condition: Value, then: Elements, other: Elements, buffer: Buffer) -> Elements:
    """What a buffer holds after a branch that may have been taken."""
    if then is None or other is None:
        return None
    missing = anything(buffer.dtype, ELEMENT)
    return {
        place: _chosen(condition, then.get(place, missing), other.get(place, missing))
        for place in {**then, **other}
    }


def _chosen(condition: Value, then: Value, other: Value) -> Value:
    if then is other or (known(then) is not None and then == other):
        return then
    return call("select", condition, then, other)


def _either_holding(condition: Value, then: Holding | None, other: Holding | None) -> Holding:
    """A buffer that one side of a branch holds, or both."""
    found = then or other
    assert found is not None
    left: Value = 0 if then is None else then.size
    right: Value = 0 if other is None else other.size
    return Holding(found.name, 0, found.span, _chosen(condition, left, right))
