"""A loop in lanes as LLVM: each iteration is a lane of one vector, and all go through the body together.

What is the same in all lanes (`varying`) is a scalar and computed once. A branch whose condition differs
between lanes runs both ways, one after the other, each under the *mask* of the lanes that take it and only if
there are any; a loop goes on until no lane is left. Under a mask nothing is read or written for other lanes,
and what is computed for them is never looked at.

    if c { A } else { B }     m = mask and c; if any(m) { A under m }; likewise B under mask and not c
    while c { A }             m = mask; while any(m = m and c) { A under m }
    for i in a .. b { A }     for k in 0 .. max(b - a) { i = a + k; A under mask and k < b - a }

A place in memory is a scalar plus a multiple of the lane's number where that is known (`Spread.stride`): one
apart is one vector in memory, none apart is one element for all lanes; some other number apart is read one by
one where the machine gathers slowly, and written so; anything else is gathered and scattered. An array of the
lane's own has its elements side by side for all lanes.

(R. Karrenberg and S. Hack, Whole-function vectorization, CGO 2011; M. Pharr and W. Mark, ispc, InPar 2012.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import assert_never

from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Buffer,
    Call,
    Check,
    Const,
    Copy,
    Fence,
    Fill,
    For,
    Free,
    If,
    Launch,
    Let,
    Load,
    Print,
    Stmt,
    Store,
    Swap,
    Var,
    View,
    Warp,
    While,
)
from anadrome.kernel_ir.walk import expressions, statements, subexpressions
from anadrome.kernel_ir.work import (
    TOGETHER,
    Work,
    is_cheap_pass,
    iterations_at_once,
)
from anadrome.kernel_ir.written_out import written_out
from anadrome.targets.llvm_checks import fail_unless
from anadrome.targets.llvm_memory import atomic_operation, combined
from anadrome.targets.llvm_poll import charge, look_if_spent
from anadrome.targets.llvm_rounds import Rounds, emit_rounds
from anadrome.targets.llvm_scalars import TRUTHS, is_less
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import Value, is_literal, literal
from anadrome.targets.llvm_vectors import FULL, Operand, Spread, Vectors

TOTALS = ("add", "sub")
"""Operations of which lanes may add up what they bring."""
UNASKED = 24
"""Operations that take less time than to ask whether any lane wants them."""


def emit_lanes(scope: Scope, loop: For) -> None:
    """A loop in lanes, from 0 to a constant extent of at least 2. It counts what is too much for the loop
    around to count."""
    assert isinstance(loop.hi, Const)
    width, work = int(loop.hi.value), scope.program.works.of(loop.body)
    if iterations_at_once(width, work) != 0:
        charge(scope, str(-(-width * max(work.operations, 1) // TOGETHER)))
    lanes = _Lanes(scope, loop, width)
    lanes.vars[loop.index] = Spread(base="0", stride="1")
    scope.loop_depth += 1
    lanes.body(loop.body)
    scope.loop_depth -= 1


class _Lanes(Vectors):
    """Statements of all lanes at once."""

    def __init__(self, scope: Scope, loop: For, width: int) -> None:
        super().__init__(scope, loop, width)
        self.apart: dict[Value, Value] = {}
        """vector -> whether no two lanes that are here have one number, where that was asked before"""

    def body(self, body: Iterable[Stmt]) -> None:
        """Statements in order, to the end."""
        self._statements(body)
        self.finish_rows()

    def _statements(self, body: Iterable[Stmt]) -> None:
        """Statements in order. What is found out in them holds no longer behind them."""
        around = self.apart, self.held
        self.apart, self.held = dict(self.apart), set(self.held)
        for stmt in body:
            if not isinstance(stmt, Let | Store | Alloc | View | For):
                self.finish_rows()
            self._statement(stmt)
        self.apart, self.held = around

    def _statement(self, stmt: Stmt) -> None:
        match stmt:
            case Let(var=var, value=value):
                self._bind(var, self.typed(value)[0])
                if self.holds(value):
                    self.held.add(var)
            case Store(buffer=buffer, indices=indices, value=value):
                self.store(buffer, self.index(buffer, indices), self.typed(value)[0])
            case If():
                self._if(stmt)
            case For():
                self._for(stmt)
            case While():
                self._while(stmt)
            case Check():
                self._check(stmt)
            case Alloc():
                self._alloc(stmt)
            case View(buffer=buffer, base=base, offset=offset):
                self.views[buffer] = (base, self.typed(offset)[0])
            case Fill(buffer=buffer, size=size, value=value):
                put = self.typed(value)[0]
                self._rounds("0", self.typed(size)[0], lambda index: self.store(buffer, index, put))
            case Copy(target=target, source=source, size=size):
                self._rounds("0", self.typed(size)[0], partial(self._copy, target, source))
            case Atomic():
                self._atomic(stmt)
            case Free() | Swap() | Print() | Call() | Barrier() | Warp() | Fence() | Launch():
                raise IRError(f"{type(stmt).__name__} in lanes")
            case _:
                assert_never(stmt)

    def _copy(self, target: Buffer, source: Buffer, index: Value) -> None:
        self.store(target, index, self.load(source, index))

    def _bind(self, var: Var, value: Operand) -> None:
        if isinstance(value, Spread):
            self.vars[var] = value
        else:
            self.vars.pop(var, None)
            self.scope.bind(var, value)

    def _alloc(self, stmt: Alloc) -> None:
        buffer = stmt.buffer
        if not isinstance(stmt.size, Const):
            raise IRError(f"the local buffer {buffer} has no constant size")
        count = max(int(stmt.size.value), 1)
        if buffer in self.varying.arrays:
            kind = self.memory_kind(buffer.dtype)
            self.own[buffer] = self.text.alloca(kind if count == 1 else f"[{count} x {kind}]")
            self.owners[buffer] = self.mask
            if count == 1:  # else what other lanes keep there would tie one strip to the one before
                self.text.do(f"store {kind} zeroinitializer, ptr {self.own[buffer]}, align 8")
        else:
            self.scope.allocate_local(buffer, count)

    # ------------------------------------------------------------------ control
    def _if(self, stmt: If) -> None:
        condition, _ = self.typed(stmt.condition)
        text = self.text
        if not isinstance(condition, Spread):
            condition = text.decided(condition)
        if condition in TRUTHS:
            self.body(stmt.then if condition == "true" else stmt.other)
            return
        if not isinstance(condition, Spread):
            then, other, after = text.fresh("then"), text.fresh("else"), text.fresh("after")
            text.do(f"br i1 {condition}, label %{then}, label %{other if stmt.other else after}")
            with text.branch(then, condition):
                self.body(stmt.then)
                text.do(f"br label %{after}")
            if stmt.other:
                with text.branch(other, condition, "false"):
                    self.body(stmt.other)
                    text.do(f"br label %{after}")
            text.label(after)
            return
        chosen = self.within(condition.vector)
        rest = ""
        if stmt.other:
            rest = text.value(f"xor {self.kind(BOOL)} {self.mask}, {chosen}")
        self._if_any(chosen, stmt.then)
        if stmt.other:
            self._if_any(rest, stmt.other)

    def _if_any(self, mask: Value, body: tuple[Stmt, ...]) -> None:
        """Statements under a mask, if it has any lane; a few are done without asking."""
        text, work = self.text, self.scope.program.works.of(body)
        if is_literal(mask):  # no lane, or some
            if "true" in mask:
                with self.under(mask):
                    self.body(body)
            return
        if work.operations <= UNASKED and all(map(self._is_arithmetic, statements(body))):
            with self.under(mask):
                self.body(body)
            return
        some, after, is_any = text.fresh("some"), text.fresh("after"), self.any_of(mask)
        if text.decided(is_any) == "true":
            with self.under(mask):
                self.body(body)
            return
        text.do(f"br i1 {is_any}, label %{some}, label %{after}")
        with text.branch(some, is_any), self.under(mask):
            self.body(body)
            text.do(f"br label %{after}")
        text.label(after)

    def _is_arithmetic(self, stmt: Stmt) -> bool:
        """Whether a statement does nothing to memory but to arrays of which each lane has its own."""
        own = self.varying.arrays
        parts = (part for expr in expressions(stmt) for part in subexpressions(expr))
        if any(isinstance(part, Load) and part.buffer not in own for part in parts):
            return False
        match stmt:
            case Let() | If():
                return True
            case Store(buffer=buffer) | Alloc(buffer=buffer):
                return buffer in own
            case _:
                return False

    def _for(self, stmt: For) -> None:
        written = written_out(stmt, self)
        if written is not None:
            for index in written:
                self._bind(stmt.index, str(index))
                self._statements(stmt.body)
            return
        self.finish_rows()
        lo, hi = self.typed(stmt.lo)[0], self.typed(stmt.hi)[0]
        cost = self._cost(stmt.body)
        at_once = iterations_at_once(self.scope.program.works.limits.trips(stmt), cost)
        operations = 0 if at_once == 0 else cost.operations
        if at_once and is_cheap_pass(stmt):
            at_once = 0

        def iteration(count: Value) -> None:
            self._bind(stmt.index, self.sum(lo, count))
            self.body(stmt.body)

        self._rounds(lo, hi, iteration, operations, at_once, self._unchanged(stmt.body))

    def _unchanged(self, body: Iterable[Stmt]) -> frozenset[Value]:
        return self.scope.unchanged(body, {view: base for view, (base, _) in self.views.items()})

    def is_known(self, var: Var) -> bool:
        """Whether a number is a constant in each lane."""
        found = self.vars.get(var)
        return bool(self.known(found)) if found is not None else self.scope.is_known(var)

    def is_steady(self, var: Var) -> bool:
        """Whether the innermost loop does not change a number."""
        found = self.vars.get(var)
        if found is None:
            return self.scope.is_steady(var)
        parts = (found.vector,) if found.vector else (found.base, found.stride)
        return all(map(self.text.is_steady, parts))

    def is_kept(self, buffer: Buffer) -> bool:
        """Whether what is read of an array here may stand in front of the innermost loop."""
        while buffer in self.views:
            buffer, _ = self.views[buffer]
        return buffer not in self.own and self.scope.is_kept(buffer)

    def _cost(self, stmts: tuple[Stmt, ...]) -> Work:
        """The work of all lanes."""
        work = self.scope.program.works.of(stmts)
        return Work(-(-work.operations * self.width // TOGETHER), work.is_all)

    def _rounds(
        self,
        lo: Operand,
        hi: Operand,
        iteration: Callable[[Value], None],
        operations: int = 0,
        at_once: int | None = 0,
        unchanged: frozenset[Value] = frozenset(),
    ) -> None:
        """iteration(k) for k in 0 .. hi - lo, in each lane by its own bounds; the rest is as in `Rounds`."""
        text, kind = self.text, self.kind(I64)

        def count(enters: Value, trip: Value, iteration: Callable[[Value], None]) -> None:
            rounds = Rounds("0", trip, enters, operations, at_once, unchanged)
            emit_rounds(self.scope, rounds, iteration)

        if not isinstance(lo, Spread) and not isinstance(hi, Spread):
            count(is_less(text, lo, hi), self.whole("sub", hi, lo), iteration)
            return
        apart = self.on_lines("sub", hi, lo)
        if apart is not None and apart.steps == 0:
            count(is_less(text, "0", apart.base), apart.base, iteration)
            return
        first, last = self.vector(lo, I64), self.vector(hi, I64)
        enters = self.within(text.value(f"icmp slt {kind} {first}, {last}"))
        distance = text.value(f"sub {kind} {last}, {first}")
        trips = text.value(f"select {self.kind(BOOL)} {enters}, {kind} {distance}, {kind} zeroinitializer")
        most = text.intrinsic(f"llvm.vector.reduce.umax.v{self.width}i64", "i64", [(kind, trips)])

        def masked(index: Value) -> None:
            with self.under(text.value(f"icmp ugt {kind} {trips}, {self.vector(index, I64)}")):
                iteration(index)

        count(text.value(f"icmp ne i64 {most}, 0"), most, masked)

    def _while(self, stmt: While) -> None:
        text, kind = self.text, self.kind(BOOL)
        head, body, after = text.fresh("head"), text.fresh("body"), text.fresh("after")
        before = text.block
        with text.loop(head, self._unchanged((*stmt.prelude, *stmt.body))):
            text.do(f"br label %{head}")
            text.label(head)
            mask = text.fresh()
            phi = text.reserve()
            with self.under(mask):
                self.body(stmt.prelude)
                condition, _ = self.typed(stmt.condition)
                if isinstance(condition, Spread):
                    still = self.within(condition.vector)
                    goes_on = self.any_of(still)
                else:
                    still, goes_on = mask, condition
                text.do(f"br i1 {goes_on}, label %{body}, label %{after}")
                text.label(body)
                with self.under(still):
                    self.body(stmt.body)
            charge(self.scope, str(self._cost((*stmt.prelude, *stmt.body)).operations + self.width))
            look_if_spent(self.scope)
            text.fill(phi, f"{mask} = phi {kind} [{self.mask}, %{before}], [{still}, %{text.block}]")
            text.do(f"br label %{head}")
        text.label(after)

    # ------------------------------------------------------------------ checks and atomics
    def _check(self, stmt: Check) -> None:
        condition, _ = self.typed(stmt.condition)
        if condition == "true":
            return
        pairs = [self.typed(value) for value in stmt.values]
        status = self.scope.status(stmt, [dtype for _, dtype in pairs])
        text, kind = self.text, self.kind(BOOL)
        if isinstance(condition, Spread):
            failed = self.within(text.value(f"xor {kind} {condition.vector}, {FULL}"))
            holds = text.value(f"xor i1 {self.any_of(failed)}, true")
        else:
            failed, holds = self.mask, condition
        lane = self._first(failed)
        bits = [self.scope.as_bits(self._of_lane(value, dtype, lane), dtype) for value, dtype in pairs]
        fail_unless(self.scope, holds, status, bits)
        if isinstance(stmt.condition, Var):
            self.held.add(stmt.condition)

    def _first(self, mask: Value) -> Value:
        """The number of the first lane of a mask that has any."""
        return self.text.intrinsic("llvm.cttz.i64", "i64", [("i64", self._bits(mask)), ("i1", "false")])

    def _bits(self, mask: Value) -> Value:
        """A mask as a number, the first lane as its lowest bit."""
        bits = self.text.value(f"bitcast {self.kind(BOOL)} {mask} to i{self.width}")
        return bits if self.width == 64 else self.text.value(f"zext i{self.width} {bits} to i64")

    def _of_lane(self, value: Operand, dtype: DType, lane: Value) -> Value:
        if not isinstance(value, Spread):
            return value
        at = self.text.value(f"and i64 {lane}, {self.width - 1}")
        return self.text.value(f"extractelement {self.kind(dtype)} {self.vector(value, dtype)}, i64 {at}")

    def _atomic(self, stmt: Atomic) -> None:
        """Lanes that may meet at one element go one after the other. Those that cannot go together; and what
        all add to one element is summed first."""
        value = self.typed(stmt.value)[0]
        buffer, index = self.resolved(stmt.buffer, self.index(stmt.buffer, stmt.indices))
        if buffer in self.own:
            raise IRError("an atomic operation on an array of one lane")
        if stmt.is_alone:
            if isinstance(index, Spread) and index.steps:
                self._combine(stmt, buffer, index, value)
                return
            if stmt.operation in TOTALS and (not isinstance(index, Spread) or index.steps == 0):
                place = index if not isinstance(index, Spread) else index.base
                total = self._total(stmt, value)
                self.scope.store(
                    buffer, place, combined(self.text, stmt, self.scope.load(buffer, place), total)
                )
                return
        if not stmt.is_alone or not isinstance(index, Spread) or index.steps == 0:
            self._one_by_one(stmt, buffer, index, value)
            return
        text = self.text
        together, parted, after = text.fresh("together"), text.fresh("parted"), text.fresh("after")
        are_apart = self._are_apart(index)
        text.do(f"br i1 {are_apart}, label %{together}, label %{parted}")
        with text.branch(together, are_apart):
            self._combine(stmt, buffer, index, value)
            text.do(f"br label %{after}")
        with text.branch(parted, are_apart, "false"):
            self._one_by_one(stmt, buffer, index, value)
            text.do(f"br label %{after}")
        text.label(after)

    def _combine(self, stmt: Atomic, buffer: Buffer, index: Operand, value: Operand) -> None:
        """All lanes at once, of which no two meet at one element."""
        old = self.vector(self.load(buffer, index), buffer.dtype)
        given = self.vector(value, buffer.dtype)
        with self.wide():
            new = combined(self.text, stmt, old, given)
        self.store(buffer, index, Spread(new))

    def _are_apart(self, index: Spread) -> Value:
        """Whether an index differs between any two lanes that are here."""
        text, kind = self.text, self.kind(I64)
        root = index.root or self.vector(index, I64)
        known = self.apart.get(root)
        if known is not None:
            return known
        own = ", ".join(f"i64 {-1 - lane}" for lane in range(self.width))  # lanes that are not here meet none
        numbers = root
        if self.mask != FULL:
            numbers = text.value(f"select {self.kind(BOOL)} {self.mask}, {kind} {root}, {kind} <{own}>")
        meets = ""
        for distance in range(1, self.width // 2 + 1):
            places = ", ".join(f"i32 {(lane + distance) % self.width}" for lane in range(self.width))
            turned = text.value(
                f"shufflevector {kind} {numbers}, {kind} poison, <{self.width} x i32> <{places}>"
            )
            equal = text.value(f"icmp eq {kind} {numbers}, {turned}")
            meets = text.value(f"or {self.kind(BOOL)} {meets}, {equal}") if meets else equal
        free = text.value(f"xor i1 {self.any_of(meets)}, true")
        if self.mask != FULL:  # a lane by itself is faster by itself
            count = text.intrinsic("llvm.ctpop.i64", "i64", [("i64", self._bits(self.mask))])
            free = text.value(f"and i1 {free}, {text.value(f'icmp ugt i64 {count}, 1')}")
        self.apart[root] = free
        return free

    def _total(self, stmt: Atomic, value: Operand) -> Value:
        """Σ of a value over the lanes that are here, in the order of a tree."""
        dtype = stmt.buffer.dtype
        kind, vector = self.kind(dtype), self.vector(value, dtype)
        if self.mask != FULL:
            vector = self.text.value(
                f"select {self.kind(BOOL)} {self.mask}, {kind} {vector}, {kind} zeroinitializer"
            )
        name = f"llvm.vector.reduce.{'fadd' if dtype.is_float else 'add'}.{self.suffix(dtype)}"
        if not dtype.is_float:
            return self.text.intrinsic(name, dtype.llvm, [(kind, vector)])
        zero = literal(-0.0, dtype)
        return self.text.intrinsic(name, dtype.llvm, [(dtype.llvm, zero), (kind, vector)], "reassoc ")

    def _one_by_one(self, stmt: Atomic, buffer: Buffer, index: Operand, value: Operand) -> None:
        text, dtype, mask = self.text, buffer.dtype, self._bits(self.mask)
        body, after = text.fresh("body"), text.fresh("after")
        before, left, following = text.block, text.fresh(), text.fresh()
        text.do(f"br label %{body}")
        text.label(body)  # which is run in any case
        text.do(f"{left} = phi i64 [{mask}, %{before}], [{following}, %{body}]")
        lane = text.intrinsic("llvm.cttz.i64", "i64", [("i64", left), ("i1", "true")])
        place, put = self._of_lane(index, I64, lane), self._of_lane(value, dtype, lane)
        if stmt.is_alone:
            self.scope.store(buffer, place, combined(text, stmt, self.scope.load(buffer, place), put))
        else:
            address = self.scope.address(buffer, place)
            operation = atomic_operation(stmt)
            text.value(
                f"atomicrmw {operation} ptr {address}, {dtype.llvm} {put} monotonic, align {dtype.bytes}"
            )
        text.do(f"{following} = and i64 {left}, {text.value(f'sub i64 {left}, 1')}")
        text.do(f"br i1 {text.value(f'icmp ne i64 {following}, 0')}, label %{body}, label %{after}")
        text.label(after)
