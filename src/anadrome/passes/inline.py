"""Put every primal that has rules of differentiation in place of the call of it: nothing is to come after.
Inverses of operators, which only derivatives read, are dropped.

Before:
    fn f(x: f64) -> f64 {
      y = custom (t = x) {
        s = sin t
        return s
      } jvp (u, u_tan) {
        s_1 = sin u
        c = cos u
        d = mul c u_tan
        return s_1, d
      }
      return y
    }
After:
    fn f(x: f64) -> f64 {
      s = sin x
      return s
    }
"""

from __future__ import annotations

from anadrome.array_ir.nodes import Body, Custom, Expr, Function, Let, Operator, ParFor
from anadrome.array_ir.rewrite import BodyChange, Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets, operator_of
from anadrome.config import Config
from anadrome.prims.node import replace


def inline(fn: Function, config: Config) -> Function:
    """The function without the node `Custom` and without inverses."""
    if not any(_is_for_derivatives(let.expr) for let in all_lets(fn.body)):
        return fn
    return with_body(fn, _Inliner().body(fn.body))


def _is_for_derivatives(expr: Expr) -> bool:
    match expr:
        case Custom():
            return True
        case ParFor(yields=yields):
            operators = [operator_of(item) for item in yields]
            return any(one is not None and one.inverse is not None for one in operators)
        case _:
            return False


class _Inliner(Substitution):
    """One walk: what stands for parameters and results of primals."""

    def body(self, body: Body) -> Body:
        """A body with the primals in their places."""
        lets: list[Let] = []
        for let in body.lets:
            self.statement(let, lets)
        return remade(body, lets, self.atoms(body.results))

    def operator(self, operator: Operator, change: BodyChange | None = None) -> Operator:
        """A monoid without its inverse."""
        bare = operator if isinstance(operator, str) else replace(operator, inverse=None)
        return super().operator(bare, change)

    def statement(self, let: Let, lets: list[Let]) -> None:
        """Append one statement, or the primal it calls."""
        expr: Expr = let.expr
        if not isinstance(expr, Custom):
            new = self.expr(expr, self.body)
            lets.append(remade(let, self.all_bound(let.targets), new))
            return
        for param, arg in zip(expr.params, self.atoms(expr.args), strict=True):
            self.replace(param, arg)
        for inner in expr.primal.lets:
            self.statement(inner, lets)
        for target, result in zip(let.targets, self.atoms(expr.primal.results), strict=True):
            self.replace(target, result)
