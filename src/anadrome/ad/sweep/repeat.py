"""What runs when a scope's forward code is executed again: no checks and no contributions to accumulators.

The first execution has checked and contributed already; both would be wrong or wasted a second time.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.kernels.normal import normal
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.nodes import Atom, Body, Check, Launch, Let, SumType
from anadrome.array_ir.rewrite import remade
from anadrome.array_ir.walk import map_bodies
from anadrome.prims.node import replace


def repeated(body: Body, wanted: Sequence[Atom] | None = None) -> Body:
    """The statements of a body that compute the wanted atoms (all but accumulators), checks left out."""
    lets = _body(body).lets
    if wanted is None:
        targets = [target for let in lets for target in let.targets]
        wanted = [target for target in targets if not isinstance(target.type, SumType)]
    return live_body(Body(lets, tuple(wanted)))


def _statement(let: Let) -> Let:
    expr = map_bodies(let.expr, _body)
    if isinstance(expr, Launch) and expr.kernel.failures:
        expr = replace(expr, kernel=normal(expr.kernel, is_checked=True).kernel)
    return remade(let, let.targets, expr)


def _body(body: Body) -> Body:
    return remade(body, [_statement(let) for let in body.lets if not isinstance(let.expr, Check)])
