"""The partials of a scalar operation and their products with changes, in arrays and in kernels alike."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.array_ir import nodes as array_ir
from anadrome.errors import Span
from anadrome.errors.ad import NotDifferentiable
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.prims.record import Algebra, Prim, Value


def partials_of(
    algebra: Algebra[Value],
    prim: Prim,
    args: Sequence[Value],
    out: Value,
    is_varied: Sequence[bool],
    span: Span | None,
) -> tuple[Value | None, ...]:
    """One partial for each argument, None where it is zero; refused where the table has none.

    `args` and `out` are the operands and the result in the algebra; `is_varied` says which operands have a
    derivative.
    """
    name = f"`{prim.symbol or prim.name}`"
    if prim.partials is None:
        raise NotDifferentiable(name, span)
    for position, argument in prim.without_derivative.items():
        if is_varied[position]:
            raise NotDifferentiable(f"{name} by its argument `{argument}`", span)
    partials: tuple[Value | None, ...] = prim.partials(algebra, tuple(args), out)
    return partials


def chain_product(
    algebra: Algebra[Value], prim: Prim, change: Value, partial: Value, is_masked: bool = False
) -> Value:
    """change · partial, where a zero change stays zero at a pole of the partial (0·∞ = 0), or whatever the
    partial is where the change may be that of a side which is not taken. Where the partial is an Iverson
    bracket, as those of a maximum are, the product is zero where that is, whatever the change is.

    The test is on the product, so that away from the pole its derivative is that of any product.
    """
    bracket = algebra.bracket(partial)
    if bracket is not None:
        nothing = algebra.constant(0.0, change)
        sides = [change if is_one else nothing for is_one in (bracket.then, bracket.other)]
        return algebra.select(bracket.condition, *sides)
    product = algebra.mul(change, partial)
    is_harmless = isinstance(partial, _CONSTANTS) or not (is_masked or "pole" in prim.facts)
    if is_harmless or isinstance(product, _CONSTANTS):
        return product
    zero = algebra.constant(0.0, product)
    is_zero = algebra.apply("eq", change, zero)
    if prim.name == "linked":  # its partial may hold a bracket
        is_zero = algebra.apply("or", is_zero, algebra.apply("eq", partial, zero))
    is_lost = algebra.apply("and", is_zero, algebra.apply("isnan", product))
    return algebra.select(is_lost, zero, product)


_CONSTANTS = (array_ir.Const, kernel_ir.Const)
