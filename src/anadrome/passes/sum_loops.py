"""A sequential loop that carries nothing but sums is a parfor: its iterations wait for nobody.

Such loops are return sweeps: what a program adds up in a loop of its own is a value that the loop carries,
and keeps its order. Adjoints that a loop carries and that turn out not to change are what they start as.

Before:
    fn f(x: f64[n], p: i64[n], y: f64[m]) -> f64[m] {
      a = with_sum (total = y) {
        b = loop (sum1 = total) for i < n {
          k = p[i]
          v = x[i]
          sum2 = add_to sum1[k]~ v
          return sum2
        }
        return b
      }
      return a
    }
After:
    fn f(x: f64[n], p: i64[n], y: f64[m]) -> f64[m] {
      a = with_sum (total = y) {
        b = parfor i < n {
          k = p[i]
          v = x[i]
          sum2 = add_to total[k]~ v
          yield carry total sum2
        }
        return b
      }
      return a
    }
"""

from __future__ import annotations

from anadrome.array_ir.nodes import Atom, Body, Carry, Expr, Function, Let, Loop, ParFor, SumType, Var
from anadrome.array_ir.walk import all_lets, prints
from anadrome.config import Config
from anadrome.passes.rewrite import Substitution


def sum_loops(fn: Function, config: Config) -> Function:
    """The function with such loops as parfors; itself where there are none."""
    if not any(_carries_sums(let.expr) for let in all_lets(fn.body)):
        return fn
    return Function(fn.name, fn.params, _Sums().body(fn.body))


def _carries_sums(expr: Expr) -> bool:
    return (
        isinstance(expr, Loop)
        and expr.trip is not None
        and expr.condition is None
        and expr.checkpoint is None
        and any(isinstance(var.type, SumType) for var in expr.carried)
        and all(map(_is_sum_or_fixed, expr.carried, expr.init, expr.body.results))
        and not prints(expr)
    )


def _is_sum_or_fixed(carried: Var, start: Atom, after: Atom) -> bool:
    return isinstance(carried.type, SumType) or (after is carried and start.type == carried.type)


class _Sums(Substitution):
    """One walk over the program."""

    def let(self, let: Let) -> Let:
        """A statement; a loop of sums is a parfor now."""
        expr = let.expr
        if not isinstance(expr, Loop) or not _carries_sums(expr):
            return super().let(let)
        assert expr.index is not None and expr.trip is not None
        trip, sources = self.atom(expr.trip), self.atoms(expr.init)
        for carried, source in zip(expr.carried, sources, strict=True):
            self.replace(carried, source)
        body = self.body(expr.body)
        yields, targets = [], []
        for target, source, result in zip(let.targets, sources, body.results, strict=True):
            if isinstance(source, Var) and isinstance(result, Var) and isinstance(source.type, SumType):
                yields.append(Carry(source, result))
                targets.append(self.bound(target))
            else:
                self.replace(target, source)
        return Let(tuple(targets), ParFor(expr.index, trip, Body(body.lets), tuple(yields)), let.span)
