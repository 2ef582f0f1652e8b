"""Whether the iterations of a loop may run together, and what they reach in memory.

They may where none reads or writes what another one writes. An element that all of them only add to, in any
order, is no obstacle: each lane may have a sum of its own. Places are compared as sums of products of
variables (`kernel_ir.affine`): two that go along by the same number of elements an iteration meet only where
what is left differs by a multiple of it, of fewer iterations than there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from anadrome.kernel_ir.affine import Atom, Bindings, Forms, whole_of_part
from anadrome.kernel_ir.arithmetic import known
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
    Buffer,
    Call,
    Check,
    Compute,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Let,
    Load,
    Stmt,
    Store,
    Var,
    View,
    While,
)
from anadrome.kernel_ir.walk import (
    expressions,
    offset_of,
    runs_in_lanes,
    statements,
    stays_loop,
    subexpressions,
    trip_count,
)
from anadrome.prims.polynomials import Polynomial, number, variable
from anadrome.prims.table import PRIMS

ROWS = 4
"""How many rows apart two places are looked at."""
LOOPS_INSIDE = "there are loops inside"
SUMMED = {
    "add": "add",
    "sub": "add",
    "mul": "mul",
    "min": "min",
    "max": "max",
    "and": "and",
    "or": "or",
}
"""What an iteration does to a sum -> what several sums of it are put together by."""


@dataclass(slots=True, eq=False)
class Sum:
    """An element that iterations add to by `operator`, and nothing else is done to it. `is_there`: whether
    there surely is such an element, if no iteration runs, too."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    operator: str
    is_there: bool
    parts: set[Load | Store] = field(default_factory=set)
    """Where it is read and written."""


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """A statement that adds `term` to an element, which goes along a buffer to which iterations only add.
    `names` are bound to nothing else than what the element was and becomes."""

    stmt: Store
    term: Expr
    names: frozenset[Var]
    place: Polynomial


@dataclass(frozen=True, slots=True)
class Reach:
    """An element of a buffer that an iteration reads or writes: where it is, if that is a form."""

    root: Buffer
    form: Polynomial | None
    is_write: bool

    def step(self, index: Var) -> int | None:
        """How many elements the next iteration goes on; None where that is no constant."""
        factor = None if self.form is None else self.form.factor(index)
        return None if factor is None else factor.constant


@dataclass(frozen=True, slots=True)
class Iterations:
    """What the iterations of a loop do, that may run together."""

    sums: tuple[Sum, ...]
    reached: tuple[Reach, ...]
    added: tuple[Added, ...] = ()
    """What meets what other iterations add, in no matter which order."""


@dataclass(frozen=True, slots=True)
class InOrder:
    """Iterations run one after the other; `why` says in words what is against lanes, with {} for the name of
    the buffer that it is about."""

    why: str
    buffer: Buffer | None = None


def iterations_of(loop: For, bindings: Bindings) -> Iterations | InOrder:
    """What the iterations of a loop do, without loops inside but such as LLVM unrolls, if they may run
    together. `bindings`: those of the whole program."""
    for stmt in statements(loop.body):
        obstacle = _obstacle(stmt)
        if obstacle is not None:
            return obstacle
    return whatever_is_inside(loop, bindings)


def whatever_is_inside(loop: For, bindings: Bindings) -> Iterations | InOrder:
    """The same of a loop whose statements lanes can run, whatever loops are inside."""
    for stmt in statements(loop.body):
        if isinstance(stmt, Fill | Copy | Atomic):
            return InOrder("what it does to arrays as a whole is not looked into")
    walk = _Walk(loop, bindings)
    if loop.binding is not Binding.PARALLEL:
        walk.find_sums()
    walk.find_reached()
    meeting = None if loop.binding is Binding.PARALLEL else walk.meeting()
    if meeting is not None:
        return meeting
    return Iterations(tuple(walk.sums.values()), tuple(walk.reached), tuple(walk.added))


def _obstacle(stmt: Stmt) -> InOrder | None:
    """What of a statement stands against lanes; None where they can run it."""
    match stmt:
        case For() | While():
            return InOrder(LOOPS_INSIDE) if stays_loop(stmt) or not runs_in_lanes(stmt) else None
        case Let() | Store() | If() | Check() | View():
            return None
        case Alloc(buffer=buffer):
            return None if runs_in_lanes(stmt) else InOrder("it makes memory, `{}`", buffer)
        case Call(routine=routine):
            return InOrder(f"it calls `{routine}`")
        case _:
            return InOrder(f"lanes do not run `{type(stmt).__name__.lower()}`")


@dataclass(frozen=True, slots=True)
class _Summed:
    """What a statement does that puts an element together with a term: by what operator, where it reads the
    element, and what names it has for what that was and becomes."""

    stmt: Store
    operator: str
    old: Load
    term: Expr
    names: frozenset[Var]


class _Walk:
    """What the statements of a loop do, in order."""

    def __init__(self, loop: For, bindings: Bindings) -> None:
        self.index = loop.index
        self.trip = trip_count(loop)
        self.bindings = bindings
        self.stmts = list(statements(loop.body))
        self.inner = {stmt.index: stmt for stmt in self.stmts if isinstance(stmt, For)}
        self.own = {stmt.buffer for stmt in self.stmts if isinstance(stmt, Alloc)}
        self.values = {stmt.var: stmt.value for stmt in self.stmts if isinstance(stmt, Let)}
        self.stores = Counter(self.root(stmt.buffer) for stmt in self.stmts if isinstance(stmt, Store))
        written = set(self.stores)
        self.written = written - self.own
        changed = {buffer for buffer in (*bindings.views, *written) if self.root(buffer) in written}
        self.forms = Forms({loop.index, *self.inner}, changed, bindings)
        for var, value in self.values.items():
            self.forms.bound[var] = None if var.dtype.is_float else self.forms.of(value)
        self.extent = self._extent(loop)
        self.reached: list[Reach] = []
        self.sums: dict[tuple[Buffer, Polynomial], Sum] = {}
        self.mixed: set[Buffer] = set()
        """Buffers of sums by several operators."""
        self.beside: set[Buffer] = set()
        """Buffers of sums that are reached in other ways as well."""
        self.ordered: set[Buffer] = set()
        """Buffers of sums whose order is kept."""
        self.along: list[Added] = []
        """What is added to elements that go along their buffers."""
        self.added: list[Added] = []
        """Those of them that meet."""
        self.summed: set[Buffer] = set()
        """The buffers that they are in."""

    def _extent(self, loop: For) -> Polynomial | None:
        """No fewer iterations than there are: of a worker's part of a loop, those of the loop."""
        first, end = (self.forms.of(self._bound_to(at)) for at in (loop.lo, loop.hi))
        if first is None or end is None:
            return None
        whole = whole_of_part(first, end) if self._is_of_worker(loop.lo) else None
        return end.plus(first, -1) if whole is None else whole

    def _bound_to(self, expr: Expr) -> Expr:
        """What is computed where a name of it is given."""
        return self.bindings.numbers.get(expr, expr) if isinstance(expr, Var) else expr

    def _is_of_worker(self, expr: Expr) -> bool:
        """Whether an index is computed from the number of a worker."""
        loops = (
            self.bindings.loops.get(part)
            for part in subexpressions(self._bound_to(expr))
            if isinstance(part, Var)
        )
        return any(loop is not None and loop.binding is Binding.THREADS for loop in loops)

    def root(self, buffer: Buffer) -> Buffer:
        """The buffer that a view looks into in the end."""
        return self.bindings.root(buffer)

    def place(self, at: Load | Store) -> Polynomial | None:
        """Where an element is, in the buffer that is looked into in the end."""
        return self.forms.place(at)

    def _parts(self, stmt: Stmt) -> Iterator[Expr]:
        for expr in expressions(stmt):
            yield from subexpressions(expr)

    # ------------------------------------------------------------------ sums
    def find_sums(self) -> None:
        """Elements that are only added to, each at one place."""
        uses = Counter(part for stmt in self.stmts for part in self._parts(stmt) if isinstance(part, Var))
        for stmt in self.stmts:
            if not isinstance(stmt, Store) or self.root(stmt.buffer) not in self.written:
                continue
            form, summed = self.place(stmt), self._summed(stmt, uses)
            if summed is None or form is None:
                continue
            if form.has(self.forms.moving):
                self._go_along(form, summed)
                continue
            parts = (part for index in stmt.indices for part in subexpressions(index))
            if any(part in self.values for part in parts):  # its place is not known outside
                continue
            operator, old = summed.operator, summed.old
            new = Sum(stmt.buffer, stmt.indices, operator, self._is_there(stmt))
            one = self.sums.setdefault((self.root(stmt.buffer), form), new)
            one.parts |= {old, stmt}
            if any(other.operator != operator for other in self._sums_in(self.root(stmt.buffer))):
                self.mixed.add(self.root(stmt.buffer))

    def _is_there(self, stmt: Store) -> bool:
        """Whether an element is inside of its buffer, by constants."""
        length = self.bindings.lengths.get(stmt.buffer, 0)
        place = known(offset_of(stmt.buffer, stmt.indices))
        return place is not None and 0 <= place < length

    def _sums_in(self, root: Buffer) -> list[Sum]:
        return [one for (buffer, _), one in self.sums.items() if buffer is root]

    def _go_along(self, form: Polynomial, summed: _Summed) -> None:
        """An element that goes along is added to, at once: between what reads it under a name and what puts
        it back another statement may have added to it, or the same one in a loop."""
        step = form.factor(self.index)
        is_at_once = not self.inner and self.stores[self.root(summed.stmt.buffer)] == 1
        if summed.names and not is_at_once:
            return
        if summed.operator == "add" and step is not None and step.constant:
            self.along.append(Added(summed.stmt, summed.term, summed.names, form))

    def _summed(self, stmt: Store, uses: Mapping[Var, int]) -> _Summed | None:
        """By what an element is put together with something, and where it is read for that."""
        names: set[Var] = set()

        def once(expr: Expr) -> Expr:
            if isinstance(expr, Var) and uses[expr] == 1 and expr in self.values:
                names.add(expr)
                return self.values[expr]
            return expr

        made = once(stmt.value)
        if not isinstance(made, Compute) or made.prim.name not in SUMMED:
            return None
        sides = made.args[:1] if made.prim.name == "sub" else made.args
        for side, other in zip(sides, reversed(made.args), strict=False):
            before = set(names)
            old = once(side)
            if isinstance(old, Load) and old.buffer is stmt.buffer and self.place(old) == self.place(stmt):
                if not stmt.buffer.dtype.is_float or made.is_reassociable:
                    term = Compute(PRIMS["neg"], (other,)) if made.prim.name == "sub" else other
                    return _Summed(stmt, SUMMED[made.prim.name], old, term, frozenset(names))
                self.ordered.add(self.root(stmt.buffer))
            names = before
        return None

    # ------------------------------------------------------------------ what is reached
    def find_reached(self) -> None:
        """What else is read and written."""
        of_sums = {part for one in self.sums.values() for part in one.parts}
        for stmt in self.stmts:
            for at in (*self._parts(stmt), stmt):
                if isinstance(at, Load | Store) and at not in of_sums:
                    self._reach(at)

    def _reach(self, at: Load | Store) -> None:
        root = self.root(at.buffer)
        if root in self.own:
            return
        self.reached.append(Reach(root, self.place(at), isinstance(at, Store)))
        if self._sums_in(root):
            self.beside.add(root)

    def meeting(self) -> InOrder | None:
        """Where an iteration may read or write what another one writes, but for sums; None if nowhere."""
        for buffer in (*self.mixed, *self.beside):
            is_added_to = all(one.operator == "add" for one in self._sums_in(buffer))
            if buffer in self.mixed or not is_added_to or not self._is_added_to_along(buffer):
                return InOrder("the sum in `{}` is read in between", buffer)
        for write in self.reached:
            others = (other for other in self.reached if write.is_write and other.root is write.root)
            if write.root not in self.summed and not all(self._meet_never(write, other) for other in others):
                if self._only_adds(write.root):
                    continue
                if write.root in self.ordered:
                    return InOrder("the sum in `{}` keeps its order", write.root)
                return InOrder("an iteration may reach what another one writes in `{}`", write.root)
        return None

    def _only_adds(self, root: Buffer) -> bool:
        """Whether iterations that meet in a buffer do nothing with it but add."""
        if not self._is_added_to_along(root):
            return False
        self.summed.add(root)
        self.added += self._along(root)
        return True

    def _is_added_to_along(self, root: Buffer) -> bool:
        """Whether iterations do nothing with a buffer, beside sums, but add to elements that go along it."""
        reached = sum(one.root is root for one in self.reached)
        return reached == 2 * len(self._along(root))  # each reads and writes once

    def _along(self, root: Buffer) -> list[Added]:
        return [one for one in self.along if self.root(one.stmt.buffer) is root]

    def _meet_never(self, one: Reach, other: Reach) -> bool:
        """Whether two iterations never reach the same element in these ways."""
        if one.form is None or other.form is None:
            return False
        step = one.step(self.index)
        if not step or step != other.step(self.index):
            return False
        left, right = one.form.without(self.index), other.form.without(self.index)
        least = most = 0
        for var, inner in self.inner.items():
            for sign, form in ((1, left), (-1, right)):
                factor = form.factor(var)
                if factor is None or factor.constant is None:
                    return False
                if factor.constant == 0:
                    continue
                if trip_count(inner) is None:
                    return False
                ends = [sign * factor.constant * end for end in _ends(inner)]
                least, most = least + min(ends), most + max(ends)
            left, right = left.without(var), right.without(var)
        rest = left.plus(right, -1)
        if self.inner:
            known = rest.constant
            return known is not None and not _has_multiple(known + least, known + most, abs(step), self.trip)
        if rest.constant is not None:
            return not _has_multiple(rest.constant, rest.constant, abs(step), self.trip)
        return self._is_behind(rest, abs(step)) or self._is_behind(number(0).plus(rest, -1), abs(step))

    def _is_behind(self, distance: Polynomial, step: int) -> bool:
        """Whether a distance is at least what all iterations go through, once or a few times over, if there
        are any."""
        if self.extent is None:
            return False
        rests = (distance.plus(self.extent, -step * times) for times in range(1, ROWS + 1))
        return any(self._is_natural(left) for left in rests)

    def _is_natural(self, form: Polynomial) -> bool:
        """Whether a number is surely not negative. What falls with an index is counted back from the end of
        that one's loop, inner loops first: i = end - 1 - left, left ≥ 0."""
        left: set[Atom] = set()
        loops = self.bindings.loops
        while falling := [
            atom
            for monomial, coefficient in form.terms.items()
            for atom in monomial
            if coefficient < 0 and isinstance(atom, Var) and atom in loops
        ]:
            index = max(falling, key=self.bindings.depths.__getitem__)
            factor, end = form.factor(index), self.forms.of(loops[index].hi)
            if factor is None or end is None or end.has({index}) or len(left) > ROWS:
                return False
            left.add(("left", index))
            back = end.plus(number(-1)).plus(variable(("left", index)), -1)
            form = form.without(index).plus(factor.times(back))
        return all(
            coefficient > 0 and all(atom in left or self._is_count(atom) for atom in monomial)
            for monomial, coefficient in form.terms.items()
        )

    def _is_count(self, atom: Atom) -> bool:
        """Whether a variable is a length or the index of a loop from a number that is not negative."""
        loop = self.bindings.loops.get(atom) if isinstance(atom, Var) else None
        first = None if loop is None else known(loop.lo)
        return atom in self.bindings.sizes or (first is not None and first >= 0)


def _has_multiple(least: int, most: int, step: int, trip: int | None) -> bool:
    """Whether step · k, for a k of which 0 < |k| < trip, is between two numbers."""

    def above(first: int, last: int) -> bool:
        found = -(-max(first, step) // step)
        return found * step <= last and (trip is None or found < trip)

    return above(least, most) or above(-most, -least)


def _ends(loop: For) -> tuple[int, int]:
    """The first and the last index of a loop with constant bounds."""
    assert isinstance(loop.lo, Const) and isinstance(loop.hi, Const)
    return int(loop.lo.value), max(int(loop.lo.value), int(loop.hi.value) - 1)
