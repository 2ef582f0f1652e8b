"""Scalar operations in cheaper ones, where what their operands are bound to allows it.

*Products*: of one that is zero where a factor is, only whether the factor is zero is asked.
Derivatives multiply a change by a partial, and where the change is zero the product is zero whatever the
partial is (0·∞ = 0). The test that says so is also on the product, since it may be differentiated once more.
Nothing is differentiated any more here, and a product with a factor of zero is zero or NaN. The sign of that
zero is not kept.

*Places*: 0 ≤ i < n is one comparison of numbers without a sign where n is a size, since a negative i is then
above all sizes.

Before:
    fn main(n: size, i: i64, d: f64, p: f64) {
      let v: f64 = mul(d, p)
      let is_lost: bool = and(eq(d, 0.0), isnan(v))
      let slope: f64 = select(is_lost, 0.0, v)
      let inside: bool = and(ge(i, 0), lt(i, n))
      return slope as f64, inside as bool
    }
After:
    fn main(n: size, i: i64, d: f64, p: f64) {
      let v: f64 = mul(d, p)
      let is_lost: bool = and(eq(d, 0.0), isnan(v))
      let slope: f64 = select(eq(d, 0.0), 0.0, v)
      let inside: bool = lt(to_u64(i), to_u64(n))
      return slope as f64, inside as bool
    }

What is computed and not used any more the target leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable

from anadrome.kernel_ir.arithmetic import compute
from anadrome.kernel_ir.nodes import Compute, Const, Expr, For, Function, If, Let, Stmt, Var, While
from anadrome.kernel_ir.walk import bodies
from anadrome.prims.node import replace


def simplify(fn: Function) -> Function:
    """The host program with the cheaper operations; the same function where there are none."""
    body = _Peephole(fn.sizes).body(fn.body)
    return replace(fn, body=body) if body is not fn.body else fn


class _Peephole:
    """A walk over statements in order, with what variables are bound to."""

    def __init__(self, sizes: Iterable[Var]) -> None:
        self.sizes = frozenset(sizes)
        self.values: dict[Var, Expr] = {}

    def body(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """Statements in order; the same tuple where nothing changes."""
        found = tuple(map(self._statement, stmts))
        return stmts if all(new is old for new, old in zip(found, stmts, strict=True)) else found

    def _statement(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Let(var=var, value=value):
                self.values[var] = value
                cheaper = self._asked(value) or self._inside(value)
                return stmt if cheaper is None else replace(stmt, value=cheaper)
            case If(then=then, other=other):
                return _same_or(stmt, If(stmt.condition, self.body(then), self.body(other)))
            case While(prelude=prelude, body=body):
                return _same_or(stmt, replace(stmt, prelude=self.body(prelude), body=self.body(body)))
            case For(body=body):
                return _same_or(stmt, replace(stmt, body=self.body(body)))
            case _:
                return stmt

    def _inside(self, value: Expr) -> Expr | None:
        """i < n without signs for 0 ≤ i and i < n."""
        match value:
            case Compute(prim=both, args=(left, right)) if both.name == "and":
                pass
            case _:
                return None
        match self._meaning(left), self._meaning(right):
            case (
                Compute(prim=from_zero, args=(index, Const(value=0))),
                Compute(prim=below, args=(same, Var() as size)),
            ) if (from_zero.name, below.name) == ("ge", "lt") and same is index and size in self.sizes:
                return compute("lt", compute("to_u64", index), compute("to_u64", size))
            case _:
                return None

    def _asked(self, value: Expr) -> Expr | None:
        """select(d = 0, 0, v) for select(d = 0 and isnan(v), 0, v), where v is d times or over something."""
        match value:
            case Compute(prim=choice, args=(condition, Const(value=0.0) as zero, Var() as product)):
                pass
            case _:
                return None
        match self._meaning(condition), self._meaning(product):
            case (
                Compute(prim=both, args=(is_zero, is_nan)),
                Compute(prim=operation, args=(left, right)),
            ) if (choice.name, both.name) == ("select", "and") and operation.name in ("mul", "div"):
                pass
            case _:
                return None
        match self._meaning(is_zero), self._meaning(is_nan):
            case (
                Compute(prim=equal, args=(Var() as factor, Const(value=0.0))),
                Compute(prim=asks, args=(asked,)),
            ) if (equal.name, asks.name) == ("eq", "isnan") and asked is product:
                factors = (left, right) if operation.name == "mul" else (left,)
                return Compute(choice, (is_zero, zero, product)) if factor in factors else None
            case _:
                return None

    def _meaning(self, expr: Expr) -> Expr:
        """What a variable is bound to, or the expression itself."""
        return self.values.get(expr, expr) if isinstance(expr, Var) else expr


def _same_or(stmt: Stmt, new: Stmt) -> Stmt:
    """The statement itself where the new one has the same bodies."""
    same = all(one is other for one, other in zip(bodies(stmt), bodies(new), strict=True))
    return stmt if same else new
