"""Who runs the blocks of a launch: the calling thread, or several workers, each a range of blocks in order.

1. Whether several pay is decided when the program runs: there must be several, and the work (threads ×
estimated cost of the kernel) must exceed `LEAST_WORK`, and several times the elements of the private copies
of all workers.
2. Whole numbers that blocks combine by one operation whose order does not matter, and that the kernel does
not use otherwise, are combined atomically.
3. Floats that blocks add to, and that the kernel does not use otherwise, are added to a copy of each worker;
the copies are added to the array in the order of the workers, so that bits do not change from run to run.
4. Where an old value is used, or another operation, one worker runs all blocks. So it does inside of a
   parallel loop.

Before:
    kernel total(n: i64, x: f64 buffer [n], s: f64 buffer [1])
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      atomic add s[0] = x[ix]
    }
    fn main(n: i64, x: f64 buffer) {
      alloc s: f64 global [1]
      fill s [1] = 0.0
      launch total [n, 1, 1] [1, 1, 1] [0] (n, x, s)
      return s[0] as f64
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc s: f64 global [1]
      fill s [1] = 0.0
      view x_1 [n] = x [0]
      view s_1 [1] = s [0]
      let team: i64 = max(min(workers, n), 1)
      let pays: bool = and(gt(team, 1), gt(mul(n, 2), add(250000, mul(4, team))))
      if pays {
        alloc copies: f64 global [team]
        for t in 0 .. team threads {
          view own [1] = copies [t]
          fill own [1] = 0.0
          let lo: i64 = truncdiv(mul(t, n), team)
          let hi: i64 = truncdiv(mul(add(t, 1), n), team)
          for block in lo .. hi sequential {
            let value: f64 = x_1[block]
            let old: f64 = own[0]
            own[0] = add(old, value)
          }
        }
        view target = s_1 [0]
        for k in 0 .. team sequential {
          view part = copies [k]
          for e in 0 .. 1 parallel {
            target[e] = add(target[e], part[e])
          }
        }
        free copies
      } else {
        for block_1 in 0 .. n sequential {
          let value_1: f64 = x_1[block_1]
          let old_1: f64 = s_1[0]
          s_1[0] = add(old_1, value_1)
        }
      }
      return s[0] as f64
    }

"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.arithmetic import (
    ONE,
    ZERO,
    add,
    compute,
    divide,
    greatest,
    known,
    least,
    multiply,
    product,
    subtract,
)
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
    Buffer,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    Free,
    If,
    Kernel,
    Let,
    Load,
    Stmt,
    Store,
    Var,
    View,
    While,
    Workers,
    i64,
)
from anadrome.kernel_ir.walk import bodies, expressions, free_names, statements, subexpressions
from anadrome.prims.costs import COPY_FACTOR, LEAST_WORK, UNKNOWN_EXTENT
from anadrome.schedule.bounds import all_of
from anadrome.schedule.names import Names, Place

ORDERLESS = ("add", "sub", "min", "max", "and", "or", "xor")
"""Atomic operations on whole numbers that may come in any order among themselves; `add` and `sub`
together."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """The arrays to which several workers write atomically."""

    indivisible: frozenset[Buffer] = frozenset()
    copied: tuple[Buffer, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether there are any."""
        return bool(self.indivisible or self.copied)


@dataclass(slots=True)
class _Uses:
    """What a kernel does with one of its arrays."""

    operations: set[str] = field(default_factory=set)
    is_read: bool = False
    """Whether an old value is used, or elements are accessed otherwise."""


def sharing_of(kernel: Kernel) -> Sharing | None:
    """How several workers may run the blocks of a kernel; None where they must not."""
    uses = _uses(kernel)
    indivisible, copied = [], []
    for buffer, found in uses.items():
        if not found.operations:
            continue
        is_sum = found.operations <= {"add", "sub"}
        if found.is_read or buffer.dtype is BOOL:
            return None
        if buffer.dtype.is_float:
            if not is_sum or not buffer.shape or buffer.strides:
                return None
            copied.append(buffer)
        elif is_sum or (len(found.operations) == 1 and found.operations <= set(ORDERLESS)):
            indivisible.append(buffer)
        else:
            return None
    return Sharing(frozenset(indivisible), tuple(copied))


def _uses(kernel: Kernel) -> dict[Buffer, _Uses]:
    uses = {param: _Uses() for param in kernel.params if isinstance(param, Buffer)}
    exprs = [expr for stmt in statements(kernel.body) for expr in expressions(stmt)]
    parts = [part for expr in exprs for part in subexpressions(expr)]
    read = {part for part in parts if isinstance(part, Var)}
    for part in parts:
        if isinstance(part, Load) and part.buffer in uses:
            uses[part.buffer].is_read = True
    for stmt in statements(kernel.body):
        match stmt:
            case Atomic(buffer=buffer, operation=operation, old=old) if buffer in uses:
                uses[buffer].operations.add(operation)
                uses[buffer].is_read |= old in read or bool(stmt.beside)
                for more, _ in stmt.beside:
                    if more in uses:
                        uses[more].is_read = True
            case Store(buffer=buffer) | Fill(buffer=buffer) if buffer in uses:
                uses[buffer].is_read = True
            case Copy(target=target, source=source):
                for buffer in {target, source} & uses.keys():
                    uses[buffer].is_read = True
            case _:
                pass
    return uses


# ---------------------------------------------------------------------------- work
def work_of(kernel: Kernel, names: Names) -> Expr:
    """Estimated scalar operations of one thread, where a launch stands."""
    return _work(kernel.body, names)


def _work(stmts: Iterable[Stmt], names: Names) -> Expr:
    fixed, total = 0, ZERO
    rest: Expr = total
    for stmt in stmts:
        fixed += 1
        for expr in expressions(stmt):
            for part in subexpressions(expr):
                fixed += _cost(part)
        inner: Expr = ZERO
        for body in bodies(stmt):
            inner = add(inner, _work(body, names))
        match stmt:
            case For(lo=lo, hi=hi):
                rest = add(rest, multiply(_trips(lo, hi, names), inner))
            case While():
                rest = add(rest, multiply(i64(UNKNOWN_EXTENT), inner))
            case _:
                rest = add(rest, inner)
    return add(i64(fixed), rest)


def _cost(expr: Expr) -> int:
    match expr:
        case Load():
            return 1
        case Var() | Const() | Workers():
            return 0
        case _:
            return expr.prim.cost


def _trips(lo: Expr, hi: Expr, names: Names) -> Expr:
    """The iterations of a loop, if they are known at the launch."""
    used = free_names((Let(Var("trips", I64), subtract(hi, lo)),))
    if used.buffers or not used.vars.keys() <= names.vars.keys():
        return i64(UNKNOWN_EXTENT)
    return greatest(names.expr(subtract(hi, lo)), ZERO)


# ---------------------------------------------------------------------------- workers
Part = tuple[Expr, Expr]
"""A range of blocks."""
Emit = Callable[[Names, frozenset[Buffer], Part, list[Stmt]], None]
"""Write a range of blocks, by the names that hold and the arrays whose atomic operations others can meet."""


def emit_workers(
    kernel: Kernel, names: Names, workers: int, blocks: Expr, threads: Expr, emit: Emit, body: list[Stmt]
) -> None:
    """Append the blocks of a launch, run by one worker or by several."""
    sharing = sharing_of(kernel) if workers > 1 else None
    if sharing is None:
        emit(names, frozenset(), (ZERO, blocks), body)
        return
    work = multiply(multiply(blocks, threads), work_of(kernel, names))
    elements = _elements(sharing, names)
    amount = known(work)
    if amount is not None and amount <= LEAST_WORK:
        emit(names, frozenset(), (ZERO, blocks), body)
        return
    team = _let(body, "team", greatest(least(Workers(), blocks), ONE))
    copied = multiply(multiply(elements, i64(COPY_FACTOR)), team)
    is_worth = compute("gt", work, add(i64(LEAST_WORK), copied))
    pays = Var("pays", BOOL)
    body.append(Let(pays, all_of([compute("gt", team, ONE), is_worth]) if sharing.is_needed else is_worth))
    if not sharing.is_needed:
        count = _let(body, "count", compute("select", pays, team, ONE))
        _emit_team(sharing, names, count, blocks, emit, body)
        return
    several: list[Stmt] = []
    alone: list[Stmt] = []
    _emit_team(sharing, names, team, blocks, emit, several)
    emit(names, frozenset(), (ZERO, blocks), alone)
    body.append(If(pays, tuple(several), tuple(alone)))


def _elements(sharing: Sharing, names: Names) -> Expr:
    """The elements of one worker's private copies."""
    total: Expr = ZERO
    for buffer in sharing.copied:
        total = add(total, product(names.exprs(buffer.shape)))
    return total


def _emit_team(
    sharing: Sharing, names: Names, count: Expr, blocks: Expr, emit: Emit, body: list[Stmt]
) -> None:
    """for t < count [threads]: the t-th of `count` parts of the blocks; then the copies are added."""
    t, inner, stmts = Var("t", I64), names.inner(), list[Stmt]()
    copies: list[tuple[Buffer, Buffer, Expr]] = []
    for buffer in sharing.copied:
        size = _let(body, "size", product(names.exprs(buffer.shape)))
        held = Buffer("copies", buffer.dtype)
        body.append(Alloc(held, multiply(count, size)))
        own = names.layout(buffer, "own")
        stmts += [View(own, held, multiply(t, size)), Fill(own, size, Const(0.0, buffer.dtype))]
        inner.buffers[buffer] = Place(own)
        copies.append((buffer, held, size))
    lo = _let(stmts, "lo", divide(multiply(t, blocks), count))
    hi = _let(stmts, "hi", divide(multiply(add(t, ONE), blocks), count))
    emit(inner, sharing.indivisible, (lo, hi), stmts)
    body.append(For(t, ZERO, count, tuple(stmts), Binding.THREADS))
    for buffer, held, size in copies:
        _add_copies(names.buffers[buffer].buffer, held, size, count, body)
        body.append(Free(held))


def _add_copies(target: Buffer, held: Buffer, size: Expr, count: Expr, body: list[Stmt]) -> None:
    """target[e] += Σ_k copies[k][e], k by k"""
    whole, part = Buffer("target", held.dtype), Buffer("part", held.dtype)
    k, e = Var("k", I64), Var("e", I64)
    total = compute("add", Load(whole, (e,)), Load(part, (e,)))
    inner = For(e, ZERO, size, (Store(whole, (e,), total),), Binding.PARALLEL)
    body += [View(whole, target, ZERO), For(k, ZERO, count, (View(part, held, multiply(k, size)), inner))]


def _let(body: list[Stmt], name: str, value: Expr) -> Expr:
    if isinstance(value, Var | Const):
        return value
    var = Var(name, I64)
    body.append(Let(var, value))
    return var
