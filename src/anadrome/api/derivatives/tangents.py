"""Forward mode as a rule of staging: the Jacobian-vector product of a function."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.forward import jvp as forward
from anadrome.api import pytree
from anadrome.api.arguments import Active, active_arguments
from anadrome.api.closures import ClosureConverted, convert_closure, float_positions, staged_leaf
from anadrome.api.derivatives.gradients import WithoutAuxiliary, fitted, matching_leaves, outer_auxiliary
from anadrome.api.patterns import agree_patterns
from anadrome.api.signature import parameter_names
from anadrome.array_ir.nodes import ArrayType, Atom
from anadrome.errors.api import StructureMismatch
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.modes import Mode
from anadrome.frontend.values import Value, is_staged


def push_forward_values(
    context: Context, function: object, primals: Value, tangents: Value, has_aux: bool = False
) -> tuple[Value, ...]:
    """What the function gives, and its tangent along `tangents`, which have the form of `primals`.

    With `has_aux` the function gives a pair, whose second part comes back as a third result.
    """
    arguments = as_tuple("the primals", primals)
    directions = as_tuple("the tangents", tangents)
    every = tuple(range(len(arguments)))
    active = active_arguments(context, "jvp", arguments, {}, every, parameter_names(function))
    structure = pytree.flatten(arguments)[1]
    leaves = matching_leaves(context, "the tangents", structure, directions)
    agree_patterns(context, "the tangents", structure, pytree.flatten(arguments)[0], leaves)
    given: list[Atom] = []
    for position, leaf in active.leaves.items():
        primal = atom(context, leaf)
        assert isinstance(primal.type, ArrayType)
        given.append(fitted(context, "a tangent", leaves[position], primal.type))
    for place, other in active.others.items():
        _check_zero(context, other, leaves[place])
    inner_function = WithoutAuxiliary(function, "jvp") if has_aux else function
    converted = convert_closure(context, inner_function, arguments, {}, active.leaves, Mode.FORWARD)
    value, tangent = push_forward(context, converted, active, given)
    if not has_aux:
        return value, tangent
    assert isinstance(value, tuple) and isinstance(tangent, tuple)
    return value[0], tangent[0], outer_auxiliary(context, function, arguments, {}, value[1])


def _check_zero(context: Context, leaf: Value, tangent: Value) -> None:
    """The tangent of an integer or bool is a zero of its kind, which is not read: no float, that is."""
    staged = staged_leaf(context, tangent) if is_staged(leaf) else None
    if staged is not None and staged.dtype.is_float:
        expected = "a zero of its own type: integers and bools are not differentiated by"
        raise StructureMismatch("the tangent of an integer or bool", expected, describe(staged))


def as_tuple(what: str, value: Value) -> tuple[Value, ...]:
    """Primals and tangents come as a tuple or list with one entry for each argument."""
    if isinstance(value, tuple | list):
        return tuple(value)
    raise StructureMismatch(what, "a tuple with an entry for each argument", describe(value))


def push_forward(
    context: Context, converted: ClosureConverted, active: Active, tangents: Sequence[Atom]
) -> tuple[Value, Value]:
    """The function's result and its tangent, from a tangent for each active leaf.

    The tangents of integers and bools are zeros of their own type; static leaves and the patterns of sparse
    matrices stay.
    """
    derivative = forward(converted.prepared(context), converted.active)
    primals = [atom(context, leaf) for leaf in active.leaves.values()]
    results = converted.call(context, derivative, (*primals, *tangents))
    count = len(converted.atoms)
    found = list(results[:count])
    places = pytree.pattern_places(converted.structure)
    kept = {leaf.position for leaf, is_place in zip(converted.results, places, strict=True) if is_place}
    for position, primal in enumerate(found):
        if not primal.type.dtype.is_float and position not in kept:
            found[position] = context.builder.zeros(primal.type)
    for position, tangent in zip(float_positions(converted.atoms), results[count:], strict=True):
        found[position] = tangent
    return converted.value(context, results), converted.value(context, found)
