"""Sums of products over named indices: einsum, and dot, matmul, inner, outer, tensordot as einsums.

A contraction is a nest of stacks over the indices that stay and of sums over the others. A product of two
float matrices with sizes that are large or not known becomes a library call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Library, Size, Var, i64
from anadrome.dtypes import BOOL, DType
from anadrome.errors.frontend import ShapeMismatch, StaticRequired, UnsupportedArgument
from anadrome.frontend.arrays import as_array, atom, describe, promote
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import array_var, axis_of, static_int
from anadrome.frontend.library.elementwise import universal
from anadrome.frontend.operators import broadcast_shapes, is_one
from anadrome.frontend.sizes import agree, multiply_sizes, retype, show_shape
from anadrome.frontend.values import Array, Staged, Value
from anadrome.frontend.views import view_of

Labels = tuple[str, ...]


def contract(
    context: Context, name: str, values: Sequence[Value], inputs: Sequence[Labels], output: Labels
) -> Staged:
    """result[output] = Σ over the other labels of Π operand[its labels]."""
    parts = [as_array(context, value) for value in values]
    dtype, _ = promote(context, parts, name)
    atoms = [atom(context, part, None if isinstance(part, Array) else dtype) for part in parts]
    sizes = _label_sizes(context, name, atoms, inputs)
    product = _matrix_product(context, atoms, inputs, output, sizes, dtype)
    if product is not None:
        return context.wrap(product)
    summed = [
        label for label in dict.fromkeys(one for labels in inputs for one in labels) if label not in output
    ]
    add, mul = ("or", "and") if dtype is BOOL else ("add", "mul")

    def term(builder: Builder, at: dict[str, Atom]) -> Atom:
        result: Atom | None = None
        for one, labels in zip(atoms, inputs, strict=True):
            factor = builder.convert(_factor(builder, one, labels, sizes, at), dtype)
            result = factor if result is None else builder.apply(mul, result, factor)
        assert result is not None
        return result

    def total(builder: Builder, at: dict[str, Atom], left: Sequence[str]) -> Atom:
        if not left:
            return term(builder, at)
        return builder.reduce(
            add, sizes[left[0]], lambda inner, k: total(inner, {**at, left[0]: k}, left[1:])
        )

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        return total(builder, dict(zip(output, indices, strict=True)), summed)

    return context.wrap(context.builder.build([sizes[label] for label in output], place))


def _label_sizes(
    context: Context, name: str, atoms: Sequence[Atom], inputs: Sequence[Labels]
) -> dict[str, Size]:
    sizes: dict[str, Size] = {}
    for one, labels in zip(atoms, inputs, strict=True):
        for label, size in zip(labels, one.type.shape, strict=True):
            known = sizes.setdefault(label, size)
            if is_one(known):
                sizes[label] = size
            elif not is_one(size):
                sizes[label] = agree(context, known, size, name)
    return sizes


def _factor(
    builder: Builder, operand: Atom, labels: Labels, sizes: dict[str, Size], at: dict[str, Atom]
) -> Atom:
    if not labels:
        return operand
    assert isinstance(operand, Var)
    own = operand.type.shape
    return builder.index(
        operand,
        [
            i64(0) if is_one(size) and not is_one(sizes[label]) else at[label]
            for label, size in zip(labels, own, strict=True)
        ],
    )


# ---------------------------------------------------------------------------- matrix products
def _matrix_product(
    context: Context,
    atoms: Sequence[Atom],
    inputs: Sequence[Labels],
    output: Labels,
    sizes: dict[str, Size],
    dtype: DType,
) -> Var | None:
    """The library call, where the contraction is ij,jk->ik with either operand transposed, or the result."""
    if (
        len(atoms) != 2
        or not dtype.is_float
        or len(output) != 2
        or any(len(set(one)) != 2 or len(one) != 2 for one in inputs)
    ):
        return None
    shared = [label for label in inputs[0] if label in inputs[1]]
    if len(shared) != 1 or shared[0] in output or set(output) != {*inputs[0], *inputs[1]} - {shared[0]}:
        return None
    if sum(is_small(context, sizes[label]) for label in (shared[0], *output)) >= 2:
        return None
    if any(
        is_one(size) and not is_one(sizes[label])
        for one, labels in zip(atoms, inputs, strict=True)
        for label, size in zip(labels, one.type.shape, strict=True)
    ):
        return None
    order = (0, 1) if output[0] in inputs[0] else (1, 0)
    operands = []
    for place in order:
        wanted = tuple(sizes[label] for label in inputs[place])
        fitted = atom(context, context.wrap(atoms[place]), dtype)
        assert isinstance(fitted, Var)
        operands.append(retype(context, fitted, ArrayType(dtype, wanted), "matmul"))
    left, right = (inputs[place] for place in order)
    return matmul_call(context.builder, operands[0], operands[1], left[0] == shared[0], right[1] == shared[0])


def matmul_call(builder: Builder, left: Var, right: Var, transpose_left: bool, transpose_right: bool) -> Var:
    """A product of two matrices of the same float type by the library."""
    return builder.let_one(Library("matmul", (left, right), (transpose_left, transpose_right)))


def is_small(context: Context, size: Size) -> bool:
    """Whether a dimension is known now and small enough for registers."""
    return isinstance(size, Const) and int(size.value) <= context.config.small_dimension


def _letters(count: int, start: int = 0) -> Labels:
    return tuple(f"#{position}" for position in range(start, start + count))


def matmul(context: Context, x1: Value, x2: Value) -> Value:
    """np.matmul: vectors, matrices, and stacks of matrices broadcast together."""
    left, right = as_array(context, x1), as_array(context, x2)
    if not left.shape or not right.shape:
        raise UnsupportedArgument(
            "np.matmul", "a number where an array is expected", context.span, "multiply with `*`"
        )
    if len(left.shape) > 2 or len(right.shape) > 2:
        return _batched(context, left, right)
    first = ("k",) if len(left.shape) == 1 else ("i", "k")
    second = ("k",) if len(right.shape) == 1 else ("k", "j")
    _require_inner(context, "np.matmul", left.shape, right.shape)
    return contract(context, "np.matmul", (left, right), (first, second), (*first[:-1], *second[1:]))


def _require_inner(context: Context, name: str, left: tuple[Size, ...], right: tuple[Size, ...]) -> None:
    """The summed sizes must be equal: a 1 is not stretched."""
    inner = right[-2] if len(right) > 1 else right[0]
    agree(context, left[-1], inner, name, (show_shape(left), show_shape(right)))


def _batched(context: Context, left: Staged, right: Staged) -> Value:
    """Stacks of matrices: one product for every place of the leading dimensions broadcast together."""
    dtype, _ = promote(context, (left, right), "np.matmul")
    one, two = array_var(context, "np.matmul", left), array_var(context, "np.matmul", right)
    _require_inner(context, "np.matmul", left.shape, right.shape)
    batch = broadcast_shapes(context, (left.shape[:-2], right.shape[:-2]), "np.matmul")
    sizes = (*left.shape[-2:], right.shape[-1])
    is_library = dtype.is_float and len(left.shape) > 1 and len(right.shape) > 1
    if not is_library or sum(is_small(context, size) for size in sizes) >= 2:
        return _batched_nest(context, (left, right))
    inner = agree(context, left.shape[-1], right.shape[-2], "np.matmul")
    shapes = ((*left.shape[:-1], inner), (*right.shape[:-2], inner, right.shape[-1]))
    operands = []
    for var, shape in zip((one, two), shapes, strict=True):
        fitted = atom(context, context.wrap(var), dtype)
        assert isinstance(fitted, Var)
        operands.append(retype(context, fitted, ArrayType(dtype, shape), "np.matmul"))

    def place(builder: Builder, indices: tuple[Var, ...]) -> Atom:
        matrices = [_matrix(builder, operand, batch, indices) for operand in operands]
        return matmul_call(builder, matrices[0], matrices[1], False, False)

    return context.wrap(context.builder.build(batch, place))


def _matrix(builder: Builder, operand: Var, batch: tuple[Size, ...], indices: tuple[Var, ...]) -> Var:
    own = operand.type.shape[:-2]
    taken = indices[len(batch) - len(own) :]
    wanted = batch[len(batch) - len(own) :]
    at = [
        i64(0) if is_one(size) and not is_one(full) else index
        for size, full, index in zip(own, wanted, taken, strict=True)
    ]
    found = builder.index(operand, at)
    assert isinstance(found, Var)
    return found


def _batched_nest(context: Context, parts: tuple[Staged, Staged]) -> Value:
    ranks = [max(len(part.shape) - 2, 0) for part in parts]
    batch = _letters(max(ranks))
    left, right = (batch[len(batch) - rank :] for rank in ranks)
    first = (*left, "k") if len(parts[0].shape) == 1 else (*left, "i", "k")
    second = ("k",) if len(parts[1].shape) == 1 else (*right, "k", "j")
    kept = [label for label in ("i", "j") if label in first or label in second]
    return contract(context, "np.matmul", parts, (first, second), (*batch, *kept))


# ---------------------------------------------------------------------------- dot and its kin
def dot(context: Context, a: Value, b: Value) -> Value:
    """np.dot: the sum over the last dimension of `a` and the last but one of `b`."""
    left, right = as_array(context, a), as_array(context, b)
    if not left.shape or not right.shape:
        return universal(np.multiply, "mul")(context, left, right)
    _require_inner(context, "np.dot", left.shape, right.shape)
    first = (*_letters(len(left.shape) - 1), "k")
    others = _letters(len(right.shape) - 1, len(left.shape))
    second = ("k",) if not others else (*others[:-1], "k", others[-1])
    return contract(context, "np.dot", (left, right), (first, second), (*first[:-1], *others))


def inner(context: Context, a: Value, b: Value) -> Value:
    """np.inner: the sum over the last dimensions."""
    left, right = as_array(context, a), as_array(context, b)
    if not left.shape or not right.shape:
        return universal(np.multiply, "mul")(context, left, right)
    agree(
        context,
        left.shape[-1],
        right.shape[-1],
        "np.inner",
        (show_shape(left.shape), show_shape(right.shape)),
    )
    first, second = _letters(len(left.shape) - 1), _letters(len(right.shape) - 1, len(left.shape))
    return contract(context, "np.inner", (left, right), ((*first, "k"), (*second, "k")), (*first, *second))


def over_rows(name: str, first: str, second: str) -> StagedCall:
    """np.vecdot, np.matvec, np.vecmat: the sum over the label k of the last dimensions; those in front are
    broadcast"""
    kept = tuple(label for label in first + second if label != "k")

    def staged(context: Context, x1: Value, x2: Value) -> Value:
        parts = [as_array(context, one) for one in (x1, x2)]
        sides = list(zip(parts, (first, second), strict=True))
        for part, labels in sides:
            if len(part.shape) < len(labels):
                reason = f"{describe(part)} where {len(labels)} dimensions or more are expected"
                raise UnsupportedArgument(name, reason, context.span)
        left, right = (part.shape[len(part.shape) - len(own) + own.index("k")] for part, own in sides)
        agree(context, left, right, name, (show_shape(parts[0].shape), show_shape(parts[1].shape)))
        ranks = [len(part.shape) - len(labels) for part, labels in sides]
        batch = _letters(max(ranks))
        named = [
            (*batch[max(ranks) - rank :], *own) for rank, own in zip(ranks, (first, second), strict=True)
        ]
        return contract(context, name, parts, named, (*batch, *kept))

    return staged


_VECDOT = over_rows("np.vecdot", "k", "k")


def products_of_rows(context: Context, x1: Value, x2: Value, *, axis: Value = -1) -> Value:
    """np.vecdot, np.linalg.vecdot: Σ x y along an axis of both"""
    parts = [as_array(context, one) for one in (x1, x2)]
    places = [axis_of(context, "np.vecdot", axis, len(part.shape)) for part in parts]
    moved = (context.call(np.moveaxis, one, at, -1) for one, at in zip(parts, places, strict=True))
    return _VECDOT(context, *moved)


def outer_of_vectors(context: Context, x1: Value, x2: Value) -> Value:
    """np.linalg.outer: of two vectors, which are not made of other arrays"""
    for one in (x1, x2):
        if len(as_array(context, one).shape) != 1:
            raise UnsupportedArgument("np.linalg.outer", f"{describe(one)} as a vector", context.span)
    return outer(context, x1, x2)


def flattened(context: Context, value: Value) -> Staged:
    """All elements as a vector; a number as a vector of one."""
    found = as_array(context, value)
    if not found.shape:
        return context.wrap(context.builder.full((i64(1),), atom(context, found)))
    if len(found.shape) == 1:
        return found
    var = array_var(context, "ravel", found)
    return context.wrap(context.builder.reshape(var, (multiply_sizes(context, found.shape),)))


def outer(context: Context, a: Value, b: Value) -> Value:
    """np.outer: every element times every other"""
    return contract(
        context, "np.outer", (flattened(context, a), flattened(context, b)), (("i",), ("j",)), ("i", "j")
    )


def vdot(context: Context, a: Value, b: Value) -> Value:
    """np.vdot: the sum of the products of all elements in order"""
    left, right = flattened(context, a), flattened(context, b)
    agree(context, left.shape[0], right.shape[0], "np.vdot")
    return contract(context, "np.vdot", (left, right), (("k",), ("k",)), ())


def tensordot(context: Context, a: Value, b: Value, axes: Value = 2) -> Value:
    """np.tensordot: the sum over the named axes of both"""
    left, right = as_array(context, a), as_array(context, b)
    ranks = len(left.shape), len(right.shape)
    if isinstance(axes, tuple | list):
        if len(axes) != 2:
            raise UnsupportedArgument("np.tensordot", "`axes` is a number or a pair", context.span)
        sides = [list(one) if isinstance(one, tuple | list) else [one] for one in axes]
    else:
        count = static_int(context, "np.tensordot", "axes", axes)
        if not 0 <= count <= min(ranks):
            raise UnsupportedArgument(
                "np.tensordot",
                f"{count} axes of arrays of {ranks[0]} and {ranks[1]} dimensions",
                context.span,
            )
        sides = [list(range(ranks[0] - count, ranks[0])), list(range(count))]
    chosen = [
        [axis_of(context, "np.tensordot", axis, rank) for axis in side]
        for side, rank in zip(sides, ranks, strict=True)
    ]
    if len(chosen[0]) != len(chosen[1]):
        raise UnsupportedArgument(
            "np.tensordot", "as many axes of one array as of the other are expected", context.span
        )
    first, second = list(_letters(ranks[0])), list(_letters(ranks[1], ranks[0]))
    for axis, partner in zip(*chosen, strict=True):
        agree(context, left.shape[axis], right.shape[partner], "np.tensordot")
        second[partner] = first[axis]
    kept = [label for axis, label in enumerate(first) if axis not in chosen[0]]
    kept += [label for axis, label in enumerate(second) if axis not in chosen[1]]
    return contract(context, "np.tensordot", (left, right), (tuple(first), tuple(second)), tuple(kept))


# ---------------------------------------------------------------------------- einsum
def einsum(context: Context, subscripts: Value, *operands: Value) -> Value:
    """np.einsum with a subscript string, explicit or implicit, ellipses included."""
    if not isinstance(subscripts, str):
        raise StaticRequired("the subscript string of `np.einsum`", context.span)
    parts = [as_array(context, operand) for operand in operands]
    inputs, output = parse_subscripts(context, subscripts, [len(part.shape) for part in parts])
    for part, labels in zip(parts, inputs, strict=True):
        if len(labels) != len(part.shape):
            raise ShapeMismatch("np.einsum", "".join(labels), show_shape(part.shape), context.span)
    if len(parts) == 1 and len(set(output)) == len(output) and set(output) == set(inputs[0]):
        return _relabelled(context, parts[0], inputs[0], output)
    return contract(context, "np.einsum", parts, inputs, output)


def _relabelled(context: Context, part: Staged, labels: Labels, output: Labels) -> Value:
    """One operand whose axes are only reordered, or gone along together: a view."""
    if not isinstance(part, Array):
        return part
    shape = [part.shape[labels.index(label)] for label in output]
    for label, size in zip(labels, part.shape, strict=True):
        agree(context, size, part.shape[labels.index(label)], "np.einsum")

    def at(builder: Builder, indices: tuple[Atom, ...]) -> list[Atom]:
        return [indices[output.index(label)] for label in labels]

    return view_of(context, part, shape, at)


def parse_subscripts(context: Context, subscripts: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """The labels of every operand and of the result; an ellipsis stands for labels `#0`, `#1`, …"""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise UnsupportedArgument(
            "np.einsum", f"{len(terms)} subscripts for {len(ranks)} operands", context.span
        )
    hidden = [max(rank - len(term.replace("...", "")), 0) for term, rank in zip(terms, ranks, strict=True)]
    widest = max((count for term, count in zip(terms, hidden, strict=True) if "..." in term), default=0)
    inputs = [
        _expand(context, term, _letters(count, widest - count))
        for term, count in zip(terms, hidden, strict=True)
    ]
    if arrow:
        output = _expand(context, right, _letters(widest))
    else:
        every = [label for labels in inputs for label in labels if not label.startswith("#")]
        output = (*_letters(widest), *sorted(label for label in set(every) if every.count(label) == 1))
    known = {label for labels in inputs for label in labels}
    if len(set(output)) != len(output) or not set(output) <= known:
        raise UnsupportedArgument("np.einsum", f"the result `{right}` does not fit `{left}`", context.span)
    return inputs, output


def _expand(context: Context, term: str, hidden: Labels) -> Labels:
    before, dots, after = term.partition("...")
    if not all(letter.isalpha() for letter in before + after):
        raise UnsupportedArgument("np.einsum", f"the subscripts `{term}`", context.span)
    return (*before, *(hidden if dots else ()), *after)


CALLS: dict[Callable[..., object], StagedCall] = {
    np.matmul: matmul,
    np.dot: dot,
    np.inner: inner,
    np.outer: outer,
    np.vdot: vdot,
    np.tensordot: tensordot,
    np.einsum: einsum,
    np.vecdot: products_of_rows,
    np.matvec: over_rows("np.matvec", "ik", "k"),
    np.vecmat: over_rows("np.vecmat", "k", "kj"),
    np.linalg.vecdot: products_of_rows,
    np.linalg.outer: outer_of_vectors,
    np.linalg.matmul: matmul,
    np.linalg.tensordot: tensordot,
}

METHODS: dict[str, StagedCall] = {"dot": dot}
