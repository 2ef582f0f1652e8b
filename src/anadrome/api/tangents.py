"""Forward mode as a rule of staging: the Jacobian-vector product of a function."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.ad.forward import jvp as forward
from anadrome.api import pytree
from anadrome.api.arguments import Active, active_arguments
from anadrome.api.gradients import fitted, matching_leaves
from anadrome.api.opened import Opened, Result, float_positions, open_function
from anadrome.array_ir.nodes import ArrayType, Atom
from anadrome.errors.api import StructureMismatch
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.values import Value


def push_forward_values(
    context: Context, function: object, primals: Value, tangents: Value
) -> tuple[Value, Value]:
    """What the function gives, and its tangent along `tangents`, which have the form of `primals`."""
    arguments = as_tuple("the primals", primals)
    directions = as_tuple("the tangents", tangents)
    active = active_arguments(context, "jvp", arguments, tuple(range(len(arguments))))
    structure = pytree.flatten(arguments)[1]
    leaves = matching_leaves(context, "the tangents", structure, directions)
    given: list[Atom] = []
    for position, leaf in active.leaves.items():
        primal = atom(context, leaf)
        assert isinstance(primal.type, ArrayType)
        given.append(fitted(context, "a tangent", leaves[position], primal.type))
    opened = open_function(context, function, arguments, {}, active.leaves)
    return push_forward(context, opened, active, given)


def as_tuple(what: str, value: Value) -> tuple[Value, ...]:
    """Primals and tangents come as a tuple or list with one entry for each argument."""
    if isinstance(value, tuple | list):
        return tuple(value)
    raise StructureMismatch(what, "a tuple with an entry for each argument", describe(value))


def push_forward(
    context: Context, opened: Opened, active: Active, tangents: Sequence[Atom]
) -> tuple[Value, Value]:
    """The function's result and its tangent, from a tangent for each active leaf."""
    derivative = forward(opened.function, opened.active)
    primals = [atom(context, leaf) for leaf in active.leaves.values()]
    results = opened.call(context, derivative, (*primals, *tangents))
    count = len(opened.atoms)
    found = dict(zip(float_positions(opened.atoms), results[count:], strict=True))
    parts = [_tangent(context, leaf, results, found.get(leaf.position)) for leaf in opened.results]
    return opened.value(context, results), pytree.unflatten(opened.structure, parts)


def _tangent(context: Context, leaf: Result, results: Sequence[Atom], found: Atom | None) -> Value:
    """The tangent of a leaf of the result; integers and bools have zeros of their own type."""
    if leaf.position is None:
        return leaf.static
    if found is None:
        type_ = results[leaf.position].type
        assert isinstance(type_, ArrayType)
        found = context.builder.zeros(type_)
    return leaf.value(context, {leaf.position: found})
