"""Whole Jacobians as rules of staging: forward mode over input elements, reverse mode over output elements.

The derivative of an output of shape s by an input of shape t has shape s + t. Inputs whose sizes are all
known when the program is compiled are differentiated along all their elements in one program (vector
forward mode); an input of unknown size is a parallel loop over its elements, one direction each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from anadrome.ad.forward import jvp as forward
from anadrome.ad.reverse import vjp as reverse
from anadrome.api import pytree
from anadrome.api.arguments import Active, Selection, active_arguments
from anadrome.api.closures import ClosureConverted, convert_closure, float_positions
from anadrome.api.derivatives.conjugation import (
    check_holomorphic,
    conjugated,
    has_complex,
    refuse_complex_argument,
    refuse_complex_result,
)
from anadrome.api.derivatives.gradients import WithoutAuxiliary, outer_auxiliary, type_words
from anadrome.api.patterns import BY_VALUES, RETURN_VALUES, refuse_sparse
from anadrome.api.pytree import Leaf, Structure
from anadrome.api.signature import parameter_names
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import TRUE, ArrayType, Atom, Const, Function, Part, Size, Stack, Var, i64
from anadrome.errors.api import NonFloatOutput, SizeUnknown
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.modes import Mode
from anadrome.frontend.values import Complex, Scalar, Staged, Value
from anadrome.prims.node import replace

VECTOR_LIMIT = 64
"""Inputs of at most this many elements in all, known when compiled, are differentiated in one vector
program."""

Blocks = dict[tuple[int, int], Atom]
"""(position of a result, number of an active leaf) -> the derivative of the one by the other."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user asks of a Jacobian; `transform` is what the user called, for messages."""

    transform: str
    argnums: Selection
    has_aux: bool
    holomorphic: bool = False


# ---------------------------------------------------------------------------- rules
def jacobian_forward(
    context: Context, function: object, args: Sequence[Value], kwargs: Mapping[str, Value], asked: Asked
) -> Value:
    """The Jacobian column by column: in each result's place, its derivative by the arguments."""
    converted, active = _converted(context, function, args, kwargs, asked, Mode.FORWARD)
    if not asked.holomorphic:
        refuse_complex_argument(asked.transform, active.structure)
    return _by_columns(context, function, args, kwargs, converted, active, asked)


def jacobian_reverse(
    context: Context, function: object, args: Sequence[Value], kwargs: Mapping[str, Value], asked: Asked
) -> Value:
    """The Jacobian row by row: in each result's place, its derivative by the arguments."""
    converted, active = _converted(context, function, args, kwargs, asked, Mode.REVERSE)
    if not asked.holomorphic:
        refuse_complex_result(asked.transform, _result_structure(converted, asked.has_aux))
    return _by_rows(context, function, args, kwargs, converted, active, asked)


def jacobian_either(
    context: Context, function: object, args: Sequence[Value], kwargs: Mapping[str, Value], asked: Asked
) -> Value:
    """The Jacobian by the mode that has fewer directions, as far as sizes are known now."""
    converted, active = _converted(context, function, args, kwargs, asked, Mode.EITHER)
    result = _result_structure(converted, asked.has_aux)
    is_forward = _has_fewer_columns(context, converted, active, asked.has_aux)
    if not asked.holomorphic:  # each mode has its side on which numbers may be complex
        is_forward = has_complex(result) or (is_forward and not has_complex(active.structure))
        if is_forward:
            refuse_complex_argument(asked.transform, active.structure)
    way = _by_columns if is_forward else _by_rows
    return way(context, function, args, kwargs, converted, active, asked)


def _result_structure(converted: ClosureConverted, has_aux: bool) -> Structure:
    """The structure of what is differentiated: of the result, or of its first part."""
    if not has_aux:
        return converted.structure
    assert not isinstance(converted.structure, Leaf)
    return converted.structure.parts[0]


def _has_fewer_columns(context: Context, converted: ClosureConverted, active: Active, has_aux: bool) -> bool:
    """Whether there are no more numbers in the arguments than in the results.

    A size that only the run knows is above every one that is known, and equal to every other such. Results
    whose sizes the function finds itself have no rows to go over.
    """
    wanted = _differentiated(converted, has_aux)
    if not converted.own_sizes.isdisjoint(wanted):
        return True
    results = [converted.result_type("jacobian", position) for position in wanted]
    return _extent(_leaf_types(context, active)) <= _extent(results)


def _extent(types: Sequence[ArrayType]) -> tuple[tuple[int, int], ...]:
    """How many numbers arrays hold: (unknown sizes in a product, the known part), largest first."""
    found: dict[int, int] = {}
    for type_ in types:
        known = [int(size.value) for size in type_.shape if isinstance(size, Const)]
        unknown = len(type_.shape) - len(known)
        found[unknown] = found.get(unknown, 0) + prod(known)
    return tuple(sorted(found.items(), reverse=True))


def _by_columns(
    context: Context,
    function: object,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    converted: ClosureConverted,
    active: Active,
    asked: Asked,
) -> Value:
    types = _leaf_types(context, active)
    counts = [_constant_count(type_) for type_ in types]
    total = sum(count for count in counts if count is not None)
    blocks: Blocks = {}
    in_one = [leaf for leaf, count in enumerate(counts) if count is not None and total <= VECTOR_LIMIT]
    values: Sequence[Atom] | None = None
    if in_one:
        values = _in_one_program(context, converted, active, in_one, blocks)
    for leaf in range(len(types)):
        if leaf not in in_one:
            _one_direction_each(context, converted, active, leaf, blocks)
    found = _assembled(context, converted, active, blocks, asked, values)
    return _with_auxiliary(context, function, args, kwargs, found) if asked.has_aux else found


def _by_rows(
    context: Context,
    function: object,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    converted: ClosureConverted,
    active: Active,
    asked: Asked,
) -> Value:
    derivative = reverse(converted.prepared(context), converted.active, context.config.mixed, context.notes)
    blocks: Blocks = {}
    skipped = _imaginary_results(converted) if asked.holomorphic else frozenset()
    for position in _differentiated(converted, asked.has_aux):
        if position in skipped:
            continue
        _rows(context, converted, active, derivative, position, blocks)
    found = _assembled(context, converted, active, blocks, asked, None)
    return _with_auxiliary(context, function, args, kwargs, found) if asked.has_aux else found


def _imaginary_results(converted: ClosureConverted) -> frozenset[int | None]:
    """Positions of the imaginary parts of results: f' of a holomorphic f follows from the real ones alone."""
    places = pytree.imaginary_places(converted.structure)
    return frozenset(
        result.position
        for result, is_imaginary in zip(converted.results, places, strict=True)
        if is_imaginary
    )


def _with_auxiliary(
    context: Context, function: object, args: Sequence[Value], kwargs: Mapping[str, Value], found: Value
) -> Value:
    assert isinstance(found, tuple)
    return found[0], outer_auxiliary(context, function, args, kwargs, found[1])


def _converted(
    context: Context,
    function: object,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    asked: Asked,
    mode: Mode,
) -> tuple[ClosureConverted, Active]:
    names = parameter_names(function)
    active = active_arguments(context, asked.transform, args, kwargs, asked.argnums, names)
    inner = WithoutAuxiliary(function, asked.transform) if asked.has_aux else function
    converted = convert_closure(context, inner, args, kwargs, active.leaves, mode)
    refuse_sparse(asked.transform, "differentiate with respect to", active.structure, BY_VALUES)
    result = _result_structure(converted, asked.has_aux)
    refuse_sparse(asked.transform, "differentiate a function that returns", result, RETURN_VALUES)
    if not _differentiated(converted, asked.has_aux):
        raise NonFloatOutput(asked.transform, _result_words(converted, asked.has_aux))
    if asked.holomorphic:
        check_holomorphic(asked.transform, active.structure, result)
    return converted, active


def _result_words(converted: ClosureConverted, has_aux: bool) -> str:
    """What the function gives, for people."""
    structure = _result_structure(converted, has_aux)
    if not isinstance(structure, Leaf):
        return pytree.describe(structure)
    position = converted.results[0].position
    if position is None:
        return describe(converted.results[0].static)
    type_ = converted.atoms[position].type
    assert isinstance(type_, ArrayType)
    return type_words(type_)


def _leaf_types(context: Context, active: Active) -> list[ArrayType]:
    types = [atom(context, leaf).type for leaf in active.leaves.values()]
    return [type_ for type_ in types if isinstance(type_, ArrayType)]


def _constant_count(type_: ArrayType) -> int | None:
    count = 1
    for size in type_.shape:
        if not isinstance(size, Const):
            return None
        count *= int(size.value)
    return count


def _differentiated(converted: ClosureConverted, has_aux: bool) -> list[int]:
    """The results that are differentiated: the floats of the result, or of its first part."""
    count = len(converted.results)
    if has_aux and not isinstance(converted.structure, Leaf):
        count = len(pytree.leaf_paths(converted.structure.parts[0]))
    wanted = {leaf.position for leaf in converted.results[:count]}
    return [position for position in float_positions(converted.atoms) if position in wanted]


# ---------------------------------------------------------------------------- forward
def _in_one_program(
    context: Context, converted: ClosureConverted, active: Active, leaves: Sequence[int], blocks: Blocks
) -> Sequence[Atom]:
    """All elements of these leaves as the directions of one vector forward sweep."""
    builder = context.builder
    types = _leaf_types(context, active)
    counts = {leaf: _constant_count(types[leaf]) or 0 for leaf in leaves}
    directions = i64(sum(counts.values()))
    starts: dict[int, int] = {}
    for leaf in leaves:
        starts[leaf] = sum(counts[earlier] for earlier in starts)
    closed = _with_constants(converted, leaves)
    primals = [atom(context, leaf) for leaf in active.leaves.values()]
    seeds = [_identity(builder, types[leaf], starts[leaf], directions) for leaf in leaves]
    derivative = forward(closed.prepared(context), closed.active, directions)
    results = closed.call(context, derivative, (*primals, *seeds))
    tangents = dict(zip(float_positions(converted.atoms), results[len(converted.atoms) :], strict=True))
    for position, tangent in tangents.items():
        for leaf in leaves:
            blocks[position, leaf] = _columns(builder, tangent, types[leaf], starts[leaf], len(leaves) == 1)
    return results[: len(converted.atoms)]


def _with_constants(converted: ClosureConverted, leaves: Sequence[int]) -> ClosureConverted:
    """The same function with only these leaves active."""
    first = len(converted.outside)
    active = tuple(position - first in leaves for position in range(len(converted.active)))
    return replace(converted, active=active)


def _identity(builder: Builder, type_: ArrayType, start: int, directions: Size) -> Atom:
    """The tangent of a leaf along every direction: [place of the element + start = direction]."""

    def place(inner: Builder, indices: tuple[Var, ...]) -> Atom:
        flat: Atom = i64(start)
        stride = 1
        for index, size in reversed(list(zip(indices[:-1], type_.shape, strict=True))):
            flat = inner.add(flat, inner.mul(index, i64(stride)))
            stride *= int(size.value) if isinstance(size, Const) else 0
        return _bracket(inner, [(flat, indices[-1])], type_)

    if not type_.shape:
        count = int(directions.value) if isinstance(directions, Const) else 0
        return builder.literal([number(float(start == place), type_.dtype) for place in range(count)])
    return builder.build((*type_.shape, directions), place)


def _one_hot(builder: Builder, type_: ArrayType, indices: Sequence[Atom]) -> Atom:
    """An array of this type that is one at `indices` and zero elsewhere."""
    return builder.build(
        type_.shape, lambda inner, at: _bracket(inner, list(zip(at, indices, strict=True)), type_)
    )


def _bracket(builder: Builder, pairs: Sequence[tuple[Atom, Atom]], type_: ArrayType) -> Atom:
    """[left = right for every pair] as a float."""
    hit: Atom = TRUE
    for left, right in pairs:
        equal = builder.apply("eq", left, right)
        hit = equal if hit is TRUE else builder.apply("and", hit, equal)
    return builder.apply("bracket", hit, number(1.0, type_.dtype))


def _columns(builder: Builder, tangent: Atom, type_: ArrayType, start: int, is_whole: bool) -> Atom:
    """The directions of one leaf: (…, directions) to (…, *shape of the leaf)."""
    assert isinstance(tangent, Var)
    rest = tangent.type.shape[:-1]
    if not type_.shape:
        return builder.build(rest, lambda inner, at: inner.index(tangent, (*at, i64(start))))
    if is_whole:
        return tangent if type_.rank == 1 else builder.reshape(tangent, (*rest, *type_.shape))

    def place(inner: Builder, at: tuple[Var, ...]) -> Atom:
        flat: Atom = i64(0)
        for index, size in zip(at[len(rest) :], type_.shape, strict=True):
            flat = inner.add(inner.mul(flat, size), index)
        return inner.index(tangent, (*at[: len(rest)], inner.add(flat, i64(start))))

    return builder.build((*rest, *type_.shape), place)


def _one_direction_each(
    context: Context, converted: ClosureConverted, active: Active, leaf: int, blocks: Blocks
) -> None:
    """A parallel loop over the elements of one leaf, each a direction of its own."""
    type_ = _leaf_types(context, active)[leaf]
    closed = _with_constants(converted, (leaf,))
    derivative = forward(closed.prepared(context), closed.active)
    primals = [atom(context, value) for value in active.leaves.values()]
    positions = float_positions(converted.atoms)

    def tangents(inner: Builder, indices: tuple[Var, ...]) -> Sequence[Atom]:
        seed = _one_hot(inner, type_, indices)
        results = inner.call(derivative, (*converted.outside, *primals, seed))
        return results[len(converted.atoms) :]

    found = _nest(context.builder, type_.shape, tangents, "jacfwd")
    for position, stacked in zip(positions, found, strict=True):
        blocks[position, leaf] = _inputs_last(context.builder, stacked, type_.rank)


def _inputs_last(builder: Builder, stacked: Atom, rank: int) -> Atom:
    """(*input, *output) to (*output, *input)."""
    shape = stacked.type.shape
    if not isinstance(stacked, Var) or rank in (0, len(shape)):
        return stacked
    split = len(shape) - rank
    return builder.build(
        (*shape[rank:], *shape[:rank]), lambda inner, at: inner.index(stacked, (*at[split:], *at[:split]))
    )


# ---------------------------------------------------------------------------- reverse
def _rows(
    context: Context,
    converted: ClosureConverted,
    active: Active,
    derivative: Function,
    position: int,
    blocks: Blocks,
) -> None:
    """A parallel loop over the elements of one result, each a cotangent of its own."""
    primals = [atom(context, value) for value in active.leaves.values()]
    positions = float_positions(converted.atoms)
    type_ = converted.result_type("jacrev", position)

    def adjoints(inner: Builder, indices: tuple[Var, ...]) -> Sequence[Atom]:
        cotangents = [
            _one_hot(inner, type_, indices)
            if other == position
            else inner.zeros(converted.result_type("jacrev", other))
            for other in positions
        ]
        results = inner.call(derivative, (*converted.outside, *primals, *cotangents))
        return results[len(converted.atoms) :]

    found = _nest(context.builder, type_.shape, adjoints, "jacrev")
    for leaf, stacked in enumerate(found):
        blocks[position, leaf] = stacked


def _nest(
    builder: Builder,
    shape: Sequence[Size],
    values: Callable[[Builder, tuple[Var, ...]], Sequence[Atom]],
    transform: str,
) -> tuple[Atom, ...]:
    """Several arrays at once: `values(builder, indices)` stacked for all indices of the shape."""

    def level(inner: Builder, indices: tuple[Var, ...]) -> Sequence[Atom]:
        if len(indices) == len(shape):
            return values(inner, indices)

        def body(deeper: Builder, index: Var) -> list[Part]:
            found = level(deeper, (*indices, index))
            if any(deeper.owns(size) for value in found for size in value.type.shape):
                raise SizeUnknown(transform)
            return [Stack.of(value) for value in found]

        return inner.parfor(shape[len(indices)], body)

    return tuple(level(builder, ()))


# ---------------------------------------------------------------------------- the whole
def _assembled(
    context: Context,
    converted: ClosureConverted,
    active: Active,
    blocks: Blocks,
    asked: Asked,
    values: Sequence[Atom] | None,
) -> Value:
    """The blocks in the form of the results, each the form of the arguments; beside it the auxiliary
    result."""
    structure = _result_structure(converted, asked.has_aux)
    wanted = set(_differentiated(converted, asked.has_aux))
    places = iter([leaf.position for leaf in converted.results])
    found: list[Value] = []
    for is_complex in _complex_leaves(structure):
        position = next(places)
        if is_complex:
            imaginary = next(places)
            found.append(_of_complex(context, active, blocks, (position, imaginary), asked.holomorphic))
        elif position in wanted:
            parts = _parts(context, active, blocks, position)
            shape = _result_shape(active, blocks, position)
            found.append(conjugated(context, active.derivative(context, parts, shape)))
        else:
            found.append(None)
    jacobian = pytree.unflatten(_with_complex_as_leaves(structure), found)
    if not asked.has_aux:
        return jacobian
    primals = [atom(context, leaf) for leaf in active.leaves.values()]
    results = values if values is not None else converted.call(context, converted.function, primals)
    pair = converted.value(context, results)
    assert isinstance(pair, tuple)
    return jacobian, pair[1]


def _parts(context: Context, active: Active, blocks: Blocks, position: int | None) -> list[Staged]:
    """The derivative of a result by each leaf of the arguments."""
    assert position is not None
    parts = []
    for number_, leaf in enumerate(active.leaves.values()):
        is_weak = isinstance(leaf, Scalar) and leaf.is_weak
        parts.append(context.wrap(blocks[position, number_], is_weak))
    return parts


def _result_shape(active: Active, blocks: Blocks, position: int | None) -> tuple[Size, ...]:
    """The shape of a result, of which there is a block for each leaf of the arguments."""
    assert position is not None
    leaf = next(iter(active.leaves.values()))
    shape = blocks[position, 0].type.shape
    return shape[: len(shape) - len(leaf.shape)]


def _of_complex(
    context: Context,
    active: Active,
    blocks: Blocks,
    positions: tuple[int | None, int | None],
    holomorphic: bool,
) -> Value:
    """The derivative of a complex result u + iv: by a real x it is u_x + i·v_x.

    By z = x + iy it is that too, where the function is holomorphic; if only the derivatives of u are there,
    it is u_x - i·u_y, which is the same (Cauchy and Riemann).
    """
    real = _parts(context, active, blocks, positions[0])
    shape = _result_shape(active, blocks, positions[0])
    if (positions[1], 0) in blocks:
        imag = _parts(context, active, blocks, positions[1])
        if not holomorphic:
            complex_parts = [Complex(*pair) for pair in zip(real, imag, strict=True)]
            return active.derivative(context, complex_parts, shape)
        columns = [part for pair in zip(real[::2], imag[::2], strict=True) for part in pair]
        return active.derivative(context, columns, shape)
    return conjugated(context, active.derivative(context, real, shape))


def _complex_leaves(structure: Structure) -> list[bool]:
    """The leaves of a structure with complex numbers for one: whether each is complex."""
    if isinstance(structure, Leaf):
        return [False]
    if pytree.is_complex_node(structure):
        return [True]
    return [found for part in structure.parts for found in _complex_leaves(part)]


def _with_complex_as_leaves(structure: Structure) -> Structure:
    """The structure, in which a complex number is one leaf."""
    if isinstance(structure, Leaf):
        return structure
    if pytree.is_complex_node(structure):
        return pytree.LEAF
    return pytree.Node(
        structure.type, structure.names, tuple([_with_complex_as_leaves(part) for part in structure.parts])
    )
