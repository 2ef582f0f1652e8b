"""The programs behind sparse derivatives, as rules of staging: derivatives along given directions.

A rule takes `(args, kwargs, directions)`: the arguments of the function, and one array for each number or
array among those it is differentiated by (in reverse mode: for each float result).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anadrome.ad.forward import jvp as forward
from anadrome.ad.reverse import vjp as reverse
from anadrome.api import pytree
from anadrome.api.arguments import Active, Selection, active_arguments
from anadrome.api.closures import ClosureConverted, convert_closure, float_positions, like_leaf, staged_leaf
from anadrome.api.derivatives.conjugation import has_complex
from anadrome.api.derivatives.gradients import fitted, outcome_words
from anadrome.api.signature import parameter_names
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Part, Size, Stack, Var
from anadrome.errors.api import ComplexDerivative, SizeUnknown
from anadrome.errors.sparse import SparseOutput
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.values import Value

Args = Sequence[Value]
Kwargs = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Pushed:
    """Along the directions, the derivative of each float result.

    With `several`, the last dimension of each array counts the directions, and so does that of each result.
    Without, there is one direction, and the function's own result comes first: what a pattern is found in.
    """

    transform: str
    argnums: Selection
    several: bool

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        converted, active = _converted(context, self.transform, self.argnums, function, args)
        leaves, _ = pytree.flatten(args[2])
        staged = [staged_leaf(context, leaf) for leaf in leaves]
        count: Size | None = None
        if self.several:
            assert staged[0] is not None
            count = staged[0].shape[-1]
        derivative = forward(converted.prepared(context), converted.active, count)
        primals = [atom(context, leaf) for leaf in active.leaves.values()]
        tangents = [
            fitted(context, "a direction", leaf, _with(primal.type, count))
            for leaf, primal in zip(leaves, primals, strict=True)
        ]
        results = converted.call(context, derivative, (*primals, *tangents))
        found = tuple(like_leaf(context, one, False, 0) for one in results[len(converted.atoms) :])
        return found if self.several else (converted.value(context, results), found)


def _with(type_: object, count: Size | None) -> ArrayType:
    assert isinstance(type_, ArrayType)
    return ArrayType(type_.dtype, type_.shape if count is None else (*type_.shape, count))


@dataclass(frozen=True, slots=True)
class Pulled:
    """Along cotangents of the float results, whose first dimension counts them, those of the arguments."""

    transform: str
    argnums: Selection

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        converted, active = _converted(context, self.transform, self.argnums, function, args)
        leaves, _ = pytree.flatten(args[2])
        first = staged_leaf(context, leaves[0])
        assert first is not None
        count = first.shape[0]
        derivative = reverse(converted.prepared(context), converted.active)
        primals = [atom(context, leaf) for leaf in active.leaves.values()]
        types = [converted.result_type(self.transform, place) for place in float_positions(converted.atoms)]
        cotangents = [
            fitted(context, "a direction", leaf, ArrayType(type_.dtype, (count, *type_.shape)))
            for leaf, type_ in zip(leaves, types, strict=True)
        ]

        def body(inner: Builder, index: Var) -> list[Part]:
            rows = [inner.index(one, (index,)) for one in cotangents if isinstance(one, Var)]
            results: Sequence[Atom] = inner.call(derivative, (*converted.outside, *primals, *rows))
            found = results[len(converted.atoms) :]
            if any(inner.owns(size) for one in found for size in one.type.shape):
                raise SizeUnknown(self.transform)
            return [Stack.of(one) for one in found]

        return tuple(like_leaf(context, one, False, 0) for one in context.builder.parfor(count, body))


def _converted(
    context: Context, transform: str, argnums: Selection, function: object, given: Args
) -> tuple[ClosureConverted, Active]:
    args, kwargs = given[0], given[1]
    assert isinstance(args, tuple) and isinstance(kwargs, dict)
    active = active_arguments(context, transform, args, kwargs, argnums, parameter_names(function))
    with context.unprinted("a sparse derivative runs this function as often as it needs"):
        converted = convert_closure(context, function, args, kwargs, active.leaves)
    if has_complex(active.structure) or has_complex(converted.structure):
        help = "take the dense derivative, or make it of real arrays"
        expected = "with `sparse=True` arguments and results must be real"
        raise ComplexDerivative(transform, expected, "complex ones", help)
    if not float_positions(converted.atoms):
        raise SparseOutput(transform, outcome_words(converted.value(context, converted.atoms)))
    return converted, active
