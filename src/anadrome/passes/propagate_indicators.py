"""Brackets go to work where they are read: the seeds of a Jacobian pick the terms that a direction reaches.

A seed is an array of brackets [j = k]. Put into its readers, multiplied through and made a filter, it leaves
of every sum over j the one term j = k (Bernstein et al. 2020, §6): the Hessian of xᵀAx costs what it has
elements. Nothing happens to a program without brackets.

Before:
    fn f(a: f64[n, n], k: i64) -> f64[n] {
      e = parfor j < n { c = eq j k; v = bracket c 1.0; yield stack v }
      y = parfor i < n {
        s = parfor j < n { u = a[i, j]; w = e[j]; p = mul u w; yield reduce add p }
        yield stack s
      }
      return y
    }
After:
    fn f(a: f64[n, n], k: i64) -> f64[n] {
      b = ge k 0
      l = lt k n
      c = and b l
      y = parfor i < n {
        s = if c { u = a[i, k]; return u } else { return 0.0 }
        yield stack s
      }
      return y
    }
"""

from __future__ import annotations

from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import Apply, Body, Carry, Expr, Function, Let, ParFor
from anadrome.array_ir.rewrite import Renaming, remade
from anadrome.array_ir.walk import all_lets, expression_variables, has_effect, let_variables, map_bodies
from anadrome.config import Config
from anadrome.passes.hoist import hoist
from anadrome.passes.restrict_domains import restrict_domains
from anadrome.passes.simplify import simplify
from anadrome.passes.vertical_fusion import inline_producers


def propagate_indicators(fn: Function, config: Config) -> Function:
    """The function with brackets put where they are read, and sums over them cut to what they leave."""
    if not _has_bracket(fn.body):
        return fn
    inlined = simplify(remove_dead(inline_producers(fn)), config)
    apart = remove_dead(Function(inlined.name, inlined.params, _apart(inlined.body)))
    return hoist(restrict_domains(apart, config), config)


def _has_bracket(body: Body) -> bool:
    return any(isinstance(let.expr, Apply) and let.expr.prim.name == "bracket" for let in all_lets(body))


def _apart(body: Body) -> Body:
    """A parfor over brackets for each yield: their conditions differ. `fuse` joins what belongs together."""
    lets: list[Let] = []
    for let in body.lets:
        new = Let(let.targets, map_bodies(let.expr, _apart), let.span)
        lets += _each_yield(new, new.expr) if isinstance(new.expr, ParFor) else [new]
    return remade(body, lets, body.results)


def _each_yield(let: Let, expr: ParFor) -> list[Let]:
    is_one = len(expr.yields) < 2 or any(isinstance(item, Carry) for item in expr.yields)
    if is_one or has_effect(expr) or not _has_bracket(expr.body):
        return [let]
    found: list[Let] = []
    needs = _Needs(expr.body)
    for part, where in expr.slices():
        lets = needs.of(ParFor.of(expr.index, expr.extent, (), [part]))
        alone = Renaming({}).expr(ParFor.of(expr.index, expr.extent, lets, [part]))
        found.append(Let(let.targets[where], alone, let.span))
    return found


class _Needs:
    """Which statements of a body a yield needs: a body of a thousand with as many yields is not copied whole
    for each. None of the statements may have an effect."""

    def __init__(self, body: Body) -> None:
        self.lets = body.lets
        self.makers = {target: place for place, let in enumerate(body.lets) for target in let.targets}

    def of(self, reader: Expr) -> list[Let]:
        """The statements that an expression needs, in order."""
        places: set[int] = set()
        wanted = list(expression_variables(reader))
        while wanted:
            place = self.makers.get(wanted.pop())
            if place is not None and place not in places:
                places.add(place)
                wanted += let_variables(self.lets[place])
        return [self.lets[place] for place in sorted(places)]
