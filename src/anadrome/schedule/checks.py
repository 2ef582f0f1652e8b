"""Check the places of all threads of a loop at once, before it, instead of in every iteration.

A check that each thread of a loop makes, and that bounds the loop (`bounds`), fails for some thread if and
only if the loop exceeds the bounds; the first thread that fails is known then.

Before:
    kernel twice(n: i64, x: f64 buffer [n])
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      let i: i64 = add(mul(ix, bx), tx)
      let inside: bool = and(ge(i, 0), lt(i, n))
      check 0: inside, i, n
      let index: i64 = select(inside, i, 0)
      x[index] = mul(2.0, x[index])
    }
    failure index "index {0} of {1}"
    fn main(n: i64) {
      alloc x: f64 global [n]
      fill x [n] = 1.0
      launch twice [8, 1, 1] [32, 1, 1] [0] (n, x)
      return x as f64 [n]
    }
After:
    fn main(n: i64) {
      alloc x: f64 global [n]
      fill x [n] = 1.0
      view x_1 [n] = x [0]
      for block in 0 .. 8 sequential {
        let held: i64 = min(max(n, -4611686018427387904), 4611686018427387904)
        let first: i64 = max(min(32, sub(held, mul(block, 32))), 0)
        let is_well: bool = ge(min(32, sub(held, mul(block, 32))), 32)
        check 0: is_well, add(mul(block, 32), first), n, block, 0, 0, first, 0, 0
        if is_well {
          for tx in 0 .. 32 parallel {
            let i: i64 = add(mul(block, 32), tx)
            let inside: bool = true
            let index: i64 = select(inside, i, 0)
            x_1[index] = mul(2.0, x_1[index])
          }
        }
      }
      return x as f64 [n]
    }
    failure index "index {0} of {1}, in block ({2}, {3}, {4}), thread ({5}, {6}, {7})"

"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from anadrome.dtypes import BOOL, I64, DType
from anadrome.kernel_ir.arithmetic import compute, greatest, known
from anadrome.kernel_ir.nodes import Binding, Check, Const, Expr, For, If, Let, Stmt, Var
from anadrome.kernel_ir.walk import statements
from anadrome.prims.node import replace
from anadrome.schedule.bounds import Bounds, all_of

TRUE = Const(True, BOOL)


def hoist_checks(loop: For, places: Collection[Var]) -> list[Stmt]:
    """The loop after the checks that can be made before it. `places` as in `narrow`."""
    checks = [stmt for stmt in loop.body if isinstance(stmt, Check)]
    found = {check: bounds for check in checks if (bounds := _bounds(check, loop, places)) is not None}
    if not found:
        return [replace(loop, binding=_binding(loop.body, loop.binding))]
    before: list[Stmt] = []
    lo, hi = _let("lo", I64, loop.lo, before), _let("hi", I64, loop.hi, before)
    conditions = [_hoisted(check, bounds, lo, hi, before) for check, bounds in found.items()]
    holds = {check.condition for check in found}
    body: list[Stmt] = []
    for stmt in loop.body:
        if isinstance(stmt, Let) and stmt.var in holds:
            body.append(Let(stmt.var, TRUE, stmt.span))
        elif stmt not in found:
            body.append(stmt)
    rest = For(loop.index, lo, hi, tuple(body), _binding(body, loop.binding))
    asked = [condition for condition in conditions if condition is not TRUE]
    return [*before, If(all_of(asked), (rest,))] if asked else [*before, rest]


def _binding(body: Iterable[Stmt], binding: Binding) -> Binding:
    """What runs the threads: no lanes where checks are left, since clamped places may be the same."""
    has_checks = any(isinstance(stmt, Check) for stmt in statements(body))
    return Binding.SEQUENTIAL if has_checks else binding


def _bounds(check: Check, loop: For, places: Collection[Var]) -> Bounds | None:
    """The bounds that a check sets, if it sets nothing else, and reports what is known before the loop."""
    bounds = Bounds.of(loop, loop.body, places, is_checked=True)
    bounds.take_all(check.condition)
    is_known = all(bounds.at(value, loop.lo) is not None for value in check.values)
    return bounds if is_known and not bounds.inside else None


def _hoisted(check: Check, bounds: Bounds, lo: Expr, hi: Expr, before: list[Stmt]) -> Expr:
    """Whether the check holds for all threads of the loop: bound before it, where it is made for the first
    thread for which it does not hold."""
    starts, ends = _reaches(lo, bounds.lo), _reaches(bounds.hi, hi)
    if starts is TRUE and ends is TRUE and not bounds.around:
        return TRUE
    before += bounds.before
    starts = _let(
        "starts", BOOL, all_of([part for part in (*bounds.around, starts) if part is not TRUE]), before
    )
    last = lo if ends is TRUE else greatest(bounds.hi, lo)
    thread = _let("first", I64, last if starts is TRUE else compute("select", starts, last, lo), before)
    values = [bounds.at(value, thread) for value in check.values]
    good = all_of([part for part in (starts, ends) if part is not TRUE])
    if known(lo) is None or known(hi) is None:
        good = compute("or", good, compute("ge", lo, hi))
    is_well = _let("is_well", BOOL, good, before)
    before.append(Check(is_well, check.code, tuple(value for value in values if value is not None)))
    return is_well


def _reaches(high: Expr, low: Expr) -> Expr:
    """Whether one number is at least another one."""
    first, second = known(high), known(low)
    if high is low or (first is not None and second is not None and first >= second):
        return TRUE
    return compute("ge", high, low)


def _let(name: str, dtype: DType, value: Expr, body: list[Stmt]) -> Expr:
    if isinstance(value, Var):
        return value
    if isinstance(value, Const):
        return TRUE if value.value is True else value
    var = Var(name, dtype)
    body.append(Let(var, value))
    return var
