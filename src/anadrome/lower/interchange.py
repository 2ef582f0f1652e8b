"""Loop interchange: a stack of sums over a strided index becomes a sum of contiguous rows.

Before:
    s = parfor j < m { r = parfor i < n { v = a[i, j]; yield reduce add v }; yield stack r }
After:
    s = parfor i < n { row = parfor j < m { v = a[i, j]; yield stack v }; yield reduce add row }

The inner loop after it runs over neighbours, and in lanes: s[j] = s[j] + a[i, j]. A sum of sums becomes a sum
of sums of rows. Scalar statements before a reduction are repeated in the inner loop if they are cheap; those
after the outermost one become a loop of their own over the finished sums. The rules:

1. Every statement of the outer body but the reduction computes a scalar, and so does every statement of the
   reduction's body; or it reduces what another such reduction gives, by the same operator. No extent is
   computed inside.
2. More reads run along the outer index (its coefficient in the last dimension is 1 or -1, and an index of a
   reduction is in another one) than read along the innermost index while they change with the outer one.
3. Short constant extents are left to LLVM, which unrolls them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.affine import affine
from anadrome.array_ir.nodes import Bounds
from anadrome.prims.costs import EXPENSIVE, SHORT


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The parts of a stack of reductions: what comes before the reduction, itself, what comes after.

    `loops` are the reduction and those inside, `lets` all statements of theirs that are no reduction.
    """

    before: tuple[array_ir.Let, ...]
    reduction: array_ir.Let
    loops: tuple[array_ir.ParFor, ...]
    lets: tuple[array_ir.Let, ...]
    operator: array_ir.Operator
    after: tuple[array_ir.Let, ...]


def interchange(let: array_ir.Let, expr: array_ir.ParFor) -> tuple[array_ir.Let, ...]:
    """The statements that a parfor becomes where interchanging its loops pays; none where it does not."""
    split = _split(expr)
    if split is None or not _pays(expr, split):
        return ()
    (value,) = split.loops[-1].body.results
    (result,) = split.reduction.targets
    row_type = array_ir.ArrayType(value.type.dtype, (expr.extent,))
    inner = (*split.before, *split.lets)
    sums = array_ir.ParFor.of(expr.index, expr.extent, inner, [array_ir.Stack.of(value)])
    for loop in reversed(split.loops):
        row = array_ir.Var("row", row_type)
        body = array_ir.Let((row,), sums, split.reduction.span)
        total_of = array_ir.Reduce.of(split.operator, (row,))
        sums = array_ir.ParFor.of(loop.index, loop.extent, [body], [total_of])
    if not split.after and expr.body.results == (result,):
        return (array_ir.Let(let.targets, sums, let.span),)
    total = array_ir.Var("sums", row_type)
    read = array_ir.Let((result,), array_ir.Index(total, (expr.index,)), split.reduction.span)
    lets = (*split.before, read, *split.after)
    rest = array_ir.ParFor.of(expr.index, expr.extent, lets, expr.parts)
    return (array_ir.Let((total,), sums, let.span), array_ir.Let(let.targets, rest, let.span))


def _split(expr: array_ir.ParFor) -> Split | None:
    """Rule 1."""
    if not all(isinstance(part.item, array_ir.Stack) and not part.value.type.shape for part in expr.parts):
        return None
    position = _only_loop(expr.body)
    if position is None:
        return None
    before, reduction, after = (
        expr.body.lets[:position],
        expr.body.lets[position],
        expr.body.lets[position + 1 :],
    )
    loops, lets = _reductions(reduction.expr)
    if not loops or not all(map(_is_cheap, before)) or not all(map(_is_scalar, after)):
        return None
    bound = {target for let in (*before, *lets) for target in let.targets} | {expr.index}
    operator = _operator(loops[0])
    if operator is None or any(loop.extent in bound for loop in loops):
        return None
    return Split(before, reduction, loops, lets, operator, after)


def _only_loop(body: array_ir.Body) -> int | None:
    """Where the one parfor of a body stands."""
    loops = [k for k, let in enumerate(body.lets) if isinstance(let.expr, array_ir.ParFor)]
    return loops[0] if len(loops) == 1 else None


def _reductions(expr: array_ir.Expr) -> tuple[tuple[array_ir.ParFor, ...], tuple[array_ir.Let, ...]]:
    """A reduction and those inside that it reduces, and their scalar statements; none where it is another."""
    if not isinstance(expr, array_ir.ParFor) or _operator(expr) is None:
        return (), ()
    lets = expr.body.lets
    if all(map(_is_scalar, lets)):
        return (expr,), lets
    position = _only_loop(expr.body)
    if (
        position != len(lets) - 1
        or expr.body.results != lets[-1].targets
        or not all(map(_is_cheap, lets[:-1]))
    ):
        return (), ()
    loops, inner = _reductions(lets[-1].expr)
    if not loops or _operator(loops[0]) != _operator(expr):
        return (), ()
    return (expr, *loops), (*lets[:-1], *inner)


def _operator(loop: array_ir.ParFor) -> str | None:
    """The operator of a loop that reduces scalars by one of the known ones, and does nothing else."""
    match loop.yields:
        case (array_ir.Reduce(operator=str(operator)),):
            return None if loop.body.results[0].type.shape else operator
        case _:
            return None


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
            return prim.cost < EXPENSIVE
        case array_ir.Index(bounds=bounds):
            return bounds is Bounds.PROVED and not let.targets[0].type.shape
        case _:
            return False


def _pays(expr: array_ir.ParFor, split: Split) -> bool:
    """Rules 2 and 3."""
    extents = (expr.extent, *(loop.extent for loop in split.loops))
    if any(isinstance(size, array_ir.Const) and size.value <= SHORT for size in extents):
        return False
    definitions = {let.targets[0]: let.expr for let in (*split.before, *split.lets)}
    along_outer = along_inner = 0
    for let in split.lets:
        match let.expr:
            case array_ir.Index(indices=indices):
                outer = _coefficients(indices, expr.index, definitions)
                inner = [_coefficients(indices, loop.index, definitions) for loop in split.loops]
                is_still = not any(one[-1] for one in inner)
                along_outer += abs(outer[-1]) == 1 and is_still and any(any(one[:-1]) for one in inner)
                along_inner += inner[-1][-1] != 0 and any(outer)
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
