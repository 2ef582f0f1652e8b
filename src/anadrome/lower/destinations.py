"""Where the consumer of an array has a place for it: the last statement of its body that reads it."""

from __future__ import annotations

from collections import Counter

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.affine import affine
from anadrome.array_ir.nodes import Bounds
from anadrome.array_ir.walk import free_variables, operands
from anadrome.kernel_ir.nodes import i64
from anadrome.lower.access import locate
from anadrome.lower.lowering import Lowering, is_scalar
from anadrome.lower.origin import predecessor
from anadrome.lower.pieces import are_in_order, ends, pieces
from anadrome.lower.sums import token_place
from anadrome.lower.values import Destination, Place


def supply(low: Lowering, var: array_ir.Var, let: array_ir.Let) -> Destination | array_ir.Var | None:
    """The place an array is wanted in by the statement that reads it last, the updated version of it whose
    place that is, or None.

    The statement reads the array as one operand and nowhere else.
    """
    match let.expr:
        case array_ir.Literal(elements=elements):
            place = low.reserve_place(let.targets[0])
            return Destination(place.row((i64(elements.index(var)),)).part())
        case array_ir.Update(value=value) if value is var:
            return _row_of_update(low, var, let, let.expr)
        case array_ir.AddTo(value=value) if value is var:
            return _row_of_sum(low, let, let.expr)
        case array_ir.Reshape(shape=wanted):
            found = low.reserve(let.targets[0]) if is_as_large(low, var.type.shape, wanted) else None
            if found is None:
                return None
            shape = low.scalars(var.type.shape)
            return Destination(found.place.reshaped(shape), found.operator, found.replaced)
        case array_ir.ParFor() if var not in operands(let.expr):
            return _piece(low, var, let, let.expr)
        case array_ir.Update() | array_ir.Loop() | array_ir.WithSum() | array_ir.ParFor():
            return _successor(low, var, let)
        case _:
            return None


def is_as_large(low: Lowering, shape: tuple[array_ir.Size, ...], other: tuple[array_ir.Size, ...]) -> bool:
    """Whether two shapes surely have the same number of elements.

    Where they may differ a check stands between an array and its reshape: written into a smaller place, the
    array would run over its end before that.
    """
    return _factors(low, shape) == _factors(low, other)


def _factors(low: Lowering, sizes: tuple[array_ir.Atom, ...]) -> tuple[int, Counter[array_ir.Var]]:
    """The product of sizes as a constant and the variables that are no products themselves."""
    constant = 1
    variables: Counter[array_ir.Var] = Counter()
    left = list(sizes)
    while left:
        size = left.pop()
        if isinstance(size, array_ir.Const):
            constant *= int(size.value)
            continue
        let = next((found for frame in low.live.frames if (found := frame.facts.definitions.get(size))), None)
        if let is not None and isinstance(let.expr, array_ir.Apply) and let.expr.prim.name == "mul":
            left += let.expr.args
        else:
            variables[size] += 1
    return constant, variables


def _successor(low: Lowering, var: array_ir.Var, let: array_ir.Let) -> array_ir.Var | None:
    """The updated version of an array that a statement makes."""
    found = low.successors.get(let)
    if found is None:
        arrays = [(place, target) for place, target in enumerate(let.targets) if not is_scalar(target)]
        before = [(predecessor(low.live.facts, let, place), target) for place, target in arrays]
        found = low.successors[let] = {var: target for var, target in reversed(before) if var is not None}
    return found.get(var)


def _piece(low: Lowering, var: array_ir.Var, let: array_ir.Let, expr: array_ir.ParFor) -> Destination | None:
    """The piece of a result that is nothing but a copy of an array."""
    if expr not in low.divided:
        low.divided[expr] = pieces(expr)
    found, knowledge = low.divided[expr], low.live.knowledge
    borders = ends(found, expr.extent)
    readers = [(piece, end) for piece, end in zip(found, borders, strict=True) if _reads(piece.body, var)]
    if len(let.targets) != 1 or len(readers) != 1 or not low.is_known(borders):
        return None
    ((piece, end),) = readers
    places = (affine(place, knowledge.definitions) for place in (end, piece.start, var.type.shape[0]))
    until, start, size = places
    fits = piece.copied(expr.index, knowledge) is var and until.plus(start, -1) == size
    if not fits or not are_in_order(found, expr.extent, knowledge):
        return None
    whole = low.reserve_place(let.targets[0])
    if whole.buffer.strides:
        return None
    low.pieces.setdefault(let, []).append(var)
    return Destination(whole.rows(low.scalar(piece.start), low.scalars(var.type.shape)))


def _reads(body: array_ir.Body, var: array_ir.Var) -> bool:
    return var in free_variables(body)


def _row_of_update(
    low: Lowering, var: array_ir.Var, let: array_ir.Let, expr: array_ir.Update
) -> Destination | None:
    """The row that an update replaces, if the array may be overwritten from now on."""
    old = low.env.get(expr.array)
    if not isinstance(old, Place) or expr.bounds is Bounds.IGNORED or not low.is_known(expr.indices):
        return None
    frame = low.live.frames[-1]
    now, then = frame.position, frame.facts.uses[var][-1]
    if any(now <= use < then for use in frame.facts.uses[expr.array]):
        return None
    wanted = low.reserve(let.targets[0])
    if wanted is not None and (wanted.operator is not None or not wanted.place.is_at(old)):
        return None
    others = (name for name in old.storage.names() if name is not expr.array)
    if any(low.live.is_live(name, here=True) for name in others):
        return None
    frame.position = then
    is_consumable = low.live.is_consumable(expr.array, old.storage, let)
    frame.position = now
    if not is_consumable:
        return None
    found = locate(low, old, expr.indices, expr.bounds, let.span)
    low.located[let] = found
    return Destination(found.place.part(), replaced=expr.array)


def _row_of_sum(low: Lowering, let: array_ir.Let, expr: array_ir.AddTo) -> Destination | None:
    """The row of the accumulator that a contribution is added to."""
    if expr.bounds is Bounds.IGNORED or not low.is_known((expr.token, *expr.indices)):
        return None
    found = low.located.get(let) or locate(
        low, token_place(low, expr.token), expr.indices, expr.bounds, let.span
    )
    low.located[let] = found
    return Destination(found.place.part(), "add")
