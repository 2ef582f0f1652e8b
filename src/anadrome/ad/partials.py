"""The partials of a scalar operation, as every mode takes them from the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Apply, Atom
from anadrome.errors import Span
from anadrome.errors.ad import NotDifferentiable


def partials_of(
    builder: Builder,
    expr: Apply,
    args: Sequence[Atom],
    out: Atom,
    is_varied: Callable[[Atom], bool],
    span: Span | None,
) -> tuple[Atom | None, ...]:
    """One partial for each argument, None where it is zero; refused where the table has none.

    `args` and `out` are the operands and the result under the names they have in `builder`; `is_varied` is
    asked of the operands as `expr` has them.
    """
    prim = expr.prim
    name = f"`{prim.symbol or prim.name}`"
    if prim.partials is None:
        raise NotDifferentiable(name, span)
    for position, argument in prim.without_derivative.items():
        if is_varied(expr.args[position]):
            raise NotDifferentiable(f"{name} by its argument `{argument}`", span)
    partials: tuple[Atom | None, ...] = prim.partials(builder, tuple(args), out)
    return partials
