"""Loop interchange: a stack of sums over a strided index becomes a sum of contiguous rows.

Before:
    s = parfor j < m { r = parfor i < n { v = a[i, j]; yield reduce add v }; yield stack r }
After:
    s = parfor i < n { row = parfor j < m { v = a[i, j]; yield stack v }; yield reduce add row }

The inner loop after it runs over neighbours, and in lanes: s[j] = s[j] + a[i, j]. Scalar statements
before the reduction are repeated in the inner loop if they are cheap; those after it become a loop of their
own over the finished sums. The rules:

1. Every statement of the outer body but the reduction computes a scalar, and so does every statement of the
   reduction's body; its extent does not depend on the outer index.
2. More reads run along the outer index (its coefficient in the last dimension is 1 or -1, and the inner index
   is in another one) than read along the inner index while they change with the outer one.
3. Short constant extents are left to LLVM, which unrolls them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.affine import affine
from anadrome.array_ir.nodes import Bounds

CHEAP = 10
"""Operations of at least this cost are not repeated in an inner loop."""
SHORT = 16
"""Constant extents up to this one are left alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The parts of a stack of reductions: what comes before the reduction, itself, what comes after."""

    before: tuple[array_ir.Let, ...]
    reduction: array_ir.Let
    loop: array_ir.ParFor
    operator: array_ir.Operator
    after: tuple[array_ir.Let, ...]


def interchange(let: array_ir.Let, expr: array_ir.ParFor) -> tuple[array_ir.Let, ...]:
    """The statements that a parfor becomes where interchanging its loops pays; none where it does not."""
    split = _split(expr)
    if split is None or not _pays(expr, split):
        return ()
    (value,) = split.loop.body.results
    (result,) = split.reduction.targets
    row = array_ir.Var("row", array_ir.ArrayType(value.type.dtype, (expr.extent,)))
    inner = (*split.before, *split.loop.body.lets)
    rows = array_ir.ParFor.of(expr.index, expr.extent, inner, [array_ir.Stack.of(value)])
    body = array_ir.Let((row,), rows, split.reduction.span)
    total_of = array_ir.Reduce.of(split.operator, (row,))
    sums = array_ir.ParFor.of(split.loop.index, split.loop.extent, [body], [total_of])
    if not split.after and expr.body.results == (result,):
        return (array_ir.Let(let.targets, sums, let.span),)
    total = array_ir.Var("sums", row.type)
    read = array_ir.Let((result,), array_ir.Index(total, (expr.index,)), split.reduction.span)
    lets = (*split.before, read, *split.after)
    rest = array_ir.ParFor.of(expr.index, expr.extent, lets, expr.parts)
    return (array_ir.Let((total,), sums, let.span), array_ir.Let(let.targets, rest, let.span))


def _split(expr: array_ir.ParFor) -> Split | None:
    """Rule 1."""
    if not all(isinstance(part.item, array_ir.Stack) and not part.value.type.shape for part in expr.parts):
        return None
    loops = [k for k, let in enumerate(expr.body.lets) if isinstance(let.expr, array_ir.ParFor)]
    if len(loops) != 1:
        return None
    position = loops[0]
    before, after = expr.body.lets[:position], expr.body.lets[position + 1 :]
    reduction = expr.body.lets[position]
    loop = reduction.expr
    if not isinstance(loop, array_ir.ParFor) or not _is_reduction(loop):
        return None
    item = loop.yields[0]
    is_plain = all(map(_is_cheap, before)) and all(map(_is_scalar, (*after, *loop.body.lets)))
    bound = {target for let in before for target in let.targets} | {expr.index}
    if not is_plain or loop.extent in bound or not isinstance(item, array_ir.Reduce):
        return None
    return Split(before, reduction, loop, item.operator, after)


def _is_reduction(loop: array_ir.ParFor) -> bool:
    match loop.yields:
        case (array_ir.Reduce(operator=str()),):
            return not loop.body.results[0].type.shape
        case _:
            return False


def _is_scalar(let: array_ir.Let) -> bool:
    match let.expr:
        case array_ir.Apply():
            return True
        case array_ir.Index():
            return not let.targets[0].type.shape
        case _:
            return False


def _is_cheap(let: array_ir.Let) -> bool:
    match let.expr:
        case array_ir.Apply(prim=prim):
            return prim.cost < CHEAP
        case array_ir.Index(bounds=bounds):
            return bounds is Bounds.PROVED and not let.targets[0].type.shape
        case _:
            return False


def _pays(expr: array_ir.ParFor, split: Split) -> bool:
    """Rules 2 and 3."""
    if any(
        isinstance(size, array_ir.Const) and size.value <= SHORT for size in (expr.extent, split.loop.extent)
    ):
        return False
    lets = (*split.before, *split.loop.body.lets)
    definitions = {let.targets[0]: let.expr for let in lets}
    along_outer = along_inner = 0
    for let in split.loop.body.lets:
        match let.expr:
            case array_ir.Index(indices=indices):
                outer = _coefficients(indices, expr.index, definitions)
                inner = _coefficients(indices, split.loop.index, definitions)
                along_outer += abs(outer[-1]) == 1 and inner[-1] == 0 and any(inner[:-1])
                along_inner += inner[-1] != 0 and any(outer)
            case _:
                pass
    return along_outer > along_inner


def _coefficients(
    indices: tuple[array_ir.Atom, ...],
    index: array_ir.Var,
    definitions: Mapping[array_ir.Var, array_ir.Expr],
) -> list[int]:
    """How each index of a read changes with a loop's index."""
    return [affine(atom, definitions).coefficient(index) for atom in indices]
