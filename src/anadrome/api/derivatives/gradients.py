"""Reverse mode as rules of staging: the gradient of a function, and its vector-Jacobian product.

A rule says what a transform does inside a program that is being staged: it takes the context, the function
and its arguments, and adds the derivative to the program. Called from outside, the whole program is that
rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.canonical import canonical
from anadrome.ad.reverse import vjp as reverse
from anadrome.api import pytree
from anadrome.api.arguments import Active, Argnums, active_arguments
from anadrome.api.closures import ClosureConverted, convert_closure, float_positions, like, staged_leaf
from anadrome.api.derivatives.conjugation import check_holomorphic, conjugated, refuse_complex_result
from anadrome.api.patterns import agree_patterns
from anadrome.api.pytree import Leaf, Structure
from anadrome.api.signature import parameter_names
from anadrome.api.stopping import stop_leaf
from anadrome.array_ir.build import number
from anadrome.array_ir.nodes import ArrayType, Atom, Var
from anadrome.errors.api import AuxiliaryMissing, NonScalarOutput, StructureMismatch
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.modes import Mode
from anadrome.frontend.sizes import retype
from anadrome.frontend.values import ScopeKind, Value

Kwargs = Mapping[str, Value]


# ---------------------------------------------------------------------------- auxiliary results
@dataclass(frozen=True, slots=True)
class WithoutAuxiliary:
    """A function whose result is a pair, the second part of which carries no derivative."""

    function: object
    transform: str

    def __anadrome_stage__(self, context: Context, args: Sequence[Value], kwargs: Kwargs) -> Value:
        """The pair, its second part behind a barrier."""
        pair = context.call(self.function, *args, **kwargs)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise AuxiliaryMissing(self.transform, outcome_words(pair))
        return pair[0], pytree.map_leaves(lambda leaf: stop_leaf(context, leaf), pair[1])

    def __call__(self, *args: object, **kwargs: object) -> object:
        """A function like any other for whoever asks whether it is one; it is only ever staged."""
        raise NotImplementedError


def _is_outermost(context: Context) -> bool:
    """Whether no transform differentiates what is staged here."""
    return not any(scope.kind is ScopeKind.OPEN for scope in context.scopes())


def outer_auxiliary(
    context: Context, function: object, args: Sequence[Value], kwargs: Kwargs, found: Value
) -> Value:
    """The auxiliary result as what is around this transform sees it: `found`, or the function's own.

    The barrier of `WithoutAuxiliary` is this transform's alone. A transform around it differentiates the
    auxiliary result as any other value, so there it comes from a call of the function itself.
    """
    if _is_outermost(context):
        return found
    with context.silent():
        pair = context.call(function, *args, **kwargs)
    assert isinstance(pair, tuple)
    return pair[1]


def outcome_words(value: Value) -> str:
    """What a function gave, in words."""
    leaves, structure = pytree.flatten(value)
    return (
        describe(value)
        if isinstance(structure, Leaf)
        else f"{pytree.describe(structure)} of {len(leaves)} numbers"
    )


# ---------------------------------------------------------------------------- gradient
def value_and_gradient(
    context: Context,
    transform: str,
    function: object,
    args: Sequence[Value],
    kwargs: Kwargs,
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool = False,
) -> tuple[Value, Value]:
    """What the function gives (its pair where there is an auxiliary result), and its gradient.

    Of a complex argument that is ∂f/∂x - i·∂f/∂y; where the function is holomorphic, f'(z).
    """
    active = active_arguments(context, transform, args, kwargs, argnums, parameter_names(function))
    inner_function = WithoutAuxiliary(function, transform) if has_aux else function
    converted = convert_closure(context, inner_function, args, kwargs, active.leaves, Mode.REVERSE)
    seed = _scalar_result(transform, converted, has_aux, active.structure if holomorphic else None)
    cotangents = [
        number(1.0, converted.atoms[position].type.dtype)
        if position == seed
        else _zero(context, transform, converted, position)
        for position in float_positions(converted.atoms)
    ]
    value, parts = pull_back(context, converted, active, cotangents)
    if has_aux:
        assert isinstance(value, tuple)
        value = value[0], outer_auxiliary(context, function, args, kwargs, value[1])
    return value, conjugated(context, active.derivative(context, parts))


def _scalar_result(
    transform: str, converted: ClosureConverted, has_aux: bool, holomorphic: Structure | None
) -> int:
    """Which result is differentiated: the only leaf of the result, or of its first part.

    Of the complex result of a holomorphic function, given the structure of its arguments, the real part.
    """
    structure = converted.structure
    whole = structure.parts[0] if has_aux and not isinstance(structure, Leaf) else structure
    if holomorphic is not None:
        check_holomorphic(transform, holomorphic, whole)
    elif pytree.is_complex_node(whole):
        refuse_complex_result(transform, whole)
    if not isinstance(whole, Leaf) and not pytree.is_complex_node(whole):
        raise NonScalarOutput(transform, pytree.describe(whole))
    position = converted.results[0].position
    if position is None:
        raise NonScalarOutput(transform, describe(converted.results[0].static))
    type_ = converted.atoms[position].type
    assert isinstance(type_, ArrayType)
    if type_.shape or not type_.dtype.is_float:
        raise NonScalarOutput(transform, type_words(type_))
    return position


def type_words(type_: ArrayType) -> str:
    """An array type for people: `float64 of shape (3, n)`."""
    if type_.is_scalar:
        return f"one {type_.dtype.numpy_name}"
    shape = ", ".join(str(getattr(size, "value", None) or size) for size in type_.shape)
    return f"{type_.dtype.numpy_name} of shape ({shape}{',' if type_.rank == 1 else ''})"


def _zero(context: Context, transform: str, converted: ClosureConverted, position: int) -> Atom:
    """A zero cotangent, of an auxiliary result."""
    return context.builder.zeros(converted.result_type(transform, position))


def pull_back(
    context: Context, converted: ClosureConverted, active: Active, cotangents: Sequence[Atom]
) -> tuple[Value, list[Value]]:
    """The function's result and a cotangent for each active leaf, from one for each float result."""
    derivative = reverse(converted.prepared(context), converted.active, context.config.mixed, context.notes)
    primals = [atom(context, leaf) for leaf in active.leaves.values()]
    results = converted.call(context, derivative, (*primals, *cotangents))
    count = len(converted.atoms)
    parts = [
        like(context, found, leaf)
        for found, leaf in zip(results[count:], active.leaves.values(), strict=True)
    ]
    return converted.value(context, results), parts


# ---------------------------------------------------------------------------- vector-Jacobian product
def pull_back_values(
    context: Context, function: object, primals: Sequence[Value], cotangent: Value, has_aux: bool
) -> tuple[Value, Value]:
    """The function's result and the cotangents of all its arguments, from a cotangent of its result.

    What the function prints was printed when the pullback was made.
    """
    every = tuple(range(len(primals)))
    active = active_arguments(context, "vjp", primals, {}, every, parameter_names(function))
    inner_function = WithoutAuxiliary(function, "vjp") if has_aux else function
    with context.silent():
        converted = convert_closure(context, inner_function, primals, {}, active.leaves, Mode.REVERSE)
    cotangents = _cotangents(context, converted, conjugated(context, cotangent), has_aux)
    value, parts = pull_back(context, converted, active, cotangents)
    leaves, structure = pytree.flatten(value[0] if has_aux and isinstance(value, tuple) else value)
    agree_patterns(context, "the cotangent", structure, leaves, pytree.flatten(cotangent)[0])
    return value, conjugated(context, active.derivative(context, parts))


def primal_value(context: Context, function: object, primals: Sequence[Value], has_aux: bool) -> Value:
    """The function's result beside a pullback.

    It is computed as a pullback computes it again, so that what both do is done once (`passes.join`). Where a
    transform around this one differentiates it, it is the function's own: nothing is behind a barrier.
    """
    if not _is_outermost(context):
        return context.call(function, *primals)
    every = tuple(range(len(primals)))
    active = active_arguments(context, "vjp", primals, {}, every, parameter_names(function))
    inner_function = WithoutAuxiliary(function, "vjp") if has_aux else function
    converted = convert_closure(context, inner_function, primals, {}, active.leaves, Mode.REVERSE)
    program = canonical(converted.prepared(context), converted.active)
    results = converted.call(context, program, [atom(context, leaf) for leaf in active.leaves.values()])
    return converted.value(context, results)


def _cotangents(context: Context, converted: ClosureConverted, cotangent: Value, has_aux: bool) -> list[Atom]:
    structure = converted.structure
    if has_aux:
        assert not isinstance(structure, Leaf)
        structure = structure.parts[0]
    leaves = matching_leaves(context, "the cotangent", structure, cotangent)
    found: list[Atom] = []
    given = {result.position: leaf for result, leaf in zip(converted.results, leaves, strict=False)}
    for position in float_positions(converted.atoms):
        type_ = converted.result_type("vjp", position)
        if position in given:
            found.append(fitted(context, "the cotangent", given[position], type_))
        else:
            found.append(_zero(context, "vjp", converted, position))
    return found


def matching_leaves(context: Context, what: str, structure: Structure, value: Value) -> list[Value]:
    """The leaves of a tangent or cotangent, whose structure must be this one."""
    leaves, found = pytree.flatten(value)
    if found != structure:
        raise StructureMismatch(
            f"the structure of {what}", pytree.describe(structure), pytree.describe(found)
        )
    return leaves


def fitted(context: Context, what: str, leaf: Value, type_: ArrayType) -> Atom:
    """A tangent or cotangent as an atom of this type; its sizes are compared, at run time if need be."""
    staged = staged_leaf(context, leaf)
    if staged is None:
        raise StructureMismatch(what, type_words(type_), describe(leaf))
    is_convertible = not staged.shape and (staged.dtype.is_float or staged.dtype.is_integer)
    if len(staged.shape) != type_.rank or not (staged.dtype is type_.dtype or is_convertible):
        raise StructureMismatch(what, type_words(type_), describe(staged))
    found = atom(context, staged, type_.dtype if is_convertible else None)
    return retype(context, found, type_, what) if isinstance(found, Var) and type_.shape else found
