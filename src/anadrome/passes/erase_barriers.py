"""Release what only differentiation needed to see: barriers and links are the values they stand for.

`stop_gradient v`, `whole v` and `linked v x p` are v. No differentiation follows, so nothing keeps them apart
from it, and the partials of `linked` live on only where a derivative reads them.

Before:
    fn f(x: f64, y: f64) -> f64 {
      a = sin x
      b = stop_gradient a
      p = exp y
      c = linked b x p
      return c
    }
After:
    fn f(x: f64, y: f64) -> f64 {
      a = sin x
      return a
    }
"""

from __future__ import annotations

from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import Apply, Body, Function, Let
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config

ITSELF = frozenset({"stop_gradient", "linked", "whole"})
"""The operations whose result is their first argument."""


def erase_barriers(fn: Function, config: Config) -> Function:
    """The function without barriers and links."""
    if not any(isinstance(let.expr, Apply) and let.expr.prim.name in ITSELF for let in all_lets(fn.body)):
        return fn
    substitution = Substitution()

    def change(body: Body) -> Body:
        lets: list[Let] = []
        for let in body.lets:
            match let.expr:
                case Apply(prim=prim, args=(value, *_)) if prim.name in ITSELF:
                    substitution.replace(let.targets[0], substitution.atom(value))
                case expr:
                    new = substitution.expr(expr, change)
                    lets.append(Let(substitution.all_bound(let.targets), new, let.span))
        return remade(body, lets, substitution.atoms(body.results))

    return remove_dead(with_body(fn, change(fn.body)))
