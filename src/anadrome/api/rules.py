"""What each transform is inside a program: its rule, as a value.

A rule is called with the context, the function and its arguments, and adds the transformed function to the
program being staged. Two rules that are equal make the same program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from anadrome.api import pytree
from anadrome.api.arguments import Selection
from anadrome.api.batching import Axes, map_rows
from anadrome.api.closures import like, staged_leaf
from anadrome.api.derivatives.gradients import (
    outcome_words,
    primal_value,
    pull_back_values,
    value_and_gradient,
)
from anadrome.api.derivatives.jacobians import Asked, jacobian_either, jacobian_forward, jacobian_reverse
from anadrome.api.derivatives.tangents import as_tuple, push_forward_values
from anadrome.errors.api import AuxiliaryMissing, StagedOutside, StructureMismatch
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.values import Scope, Value

Args = Sequence[Value]
Kwargs = Mapping[str, Value]


# ---------------------------------------------------------------------------- reverse mode
@dataclass(frozen=True, slots=True)
class Gradient:
    """The gradient by some arguments; with the auxiliary result where there is one.

    `transform` is what the user called, for messages.
    """

    argnums: Selection
    has_aux: bool
    transform: str = "grad"
    holomorphic: bool = False

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        value, gradient = value_and_gradient(
            context, self.transform, function, args, kwargs, self.argnums, self.has_aux, self.holomorphic
        )
        if not self.has_aux:
            return gradient
        assert isinstance(value, tuple)
        return gradient, value[1]


@dataclass(frozen=True, slots=True)
class ValueAndGradient:
    """The function's result and its gradient."""

    argnums: Selection
    has_aux: bool
    holomorphic: bool = False

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        return value_and_gradient(
            context, "value_and_grad", function, args, kwargs, self.argnums, self.has_aux, self.holomorphic
        )


@dataclass(frozen=True, slots=True)
class PullBack:
    """The cotangents of all arguments but the last, which is the cotangent of the result."""

    has_aux: bool

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        return pull_back_values(context, function, args[:-1], args[-1], self.has_aux)[1]


class Pullback:
    """What `vjp` gives inside a compiled function: a cotangent of the result to cotangents of the arguments.

    It holds the primals as they were, so it is called where they are known: in the body it was made in.
    """

    def __init__(self, context: Context, function: object, primals: Sequence[Value], has_aux: bool) -> None:
        leaves, self._structure = pytree.flatten(tuple(primals))
        self._leaves = [_frozen(context, leaf) for leaf in leaves]
        self._function = function
        self._has_aux = has_aux
        self._scope: Scope = context.scope

    def __call__(self, cotangent: object) -> object:
        """Outside compiled functions there is no such object."""
        raise StagedOutside("this pullback")

    def __anadrome_stage__(self, context: Context, args: Sequence[Value], kwargs: Kwargs) -> Value:
        """The cotangents of the primals."""
        if self._scope not in context.scopes():
            raise StagedOutside("a pullback made inside a loop or branch, outside of which it is called,")
        refuse_keywords(context, "this pullback", kwargs)
        cotangent = the_cotangent(context, args)
        primals = pytree.unflatten(self._structure, [thaw(context) for thaw in self._leaves])
        return pull_back_values(context, self._function, primals, cotangent, self._has_aux)[1]


class Linearized:
    """What `linearize` gives inside a compiled function: tangents of the arguments to that of the result.

    It holds the primals as they were, so it is called where they are known: in the body it was made in.
    """

    def __init__(self, context: Context, function: object, primals: Sequence[Value]) -> None:
        leaves, self._structure = pytree.flatten(tuple(primals))
        self._leaves = [_frozen(context, leaf) for leaf in leaves]
        self._function = function
        self._scope: Scope = context.scope

    def __call__(self, *tangents: object) -> object:
        """Outside compiled functions there is no such object."""
        raise StagedOutside("this linear function")

    def __anadrome_stage__(self, context: Context, args: Sequence[Value], kwargs: Kwargs) -> Value:
        """The tangent of the result."""
        if self._scope not in context.scopes():
            raise StagedOutside(
                "a linear function made inside a loop or branch, outside of which it is called,"
            )
        refuse_keywords(context, "this linear function", kwargs)
        primals = pytree.unflatten(self._structure, [thaw(context) for thaw in self._leaves])
        with context.silent():
            return push_forward_values(context, self._function, primals, args)[1]


def stage_linearize(context: Context, function: object, *primals: Value) -> Value:
    """`linearize` inside a program: the function's result and a function of tangents."""
    return context.call(function, *primals), Linearized(context, function, primals)


def refuse_keywords(context: Context, what: str, kwargs: Kwargs) -> None:
    """Linear functions and pullbacks take their arguments by position."""
    if kwargs:
        got = f"`{next(iter(kwargs))}=`"
        raise StructureMismatch(f"the arguments of {what}", "none by name", got).at(context.span)


def the_cotangent(context: Context, args: Sequence[Value]) -> Value:
    """The one argument of a pullback."""
    if len(args) != 1:
        words = ("the arguments of this pullback", "one, the cotangent of the result", str(len(args)))
        raise StructureMismatch(*words).at(context.span)
    return args[0]


def _frozen(context: Context, leaf: Value) -> Callable[[Context], Value]:
    """A leaf as it is now, whatever is written into its array later."""
    staged = staged_leaf(context, leaf)
    if staged is None:
        return lambda later: leaf
    found = atom(context, staged)
    return lambda later: like(later, found, staged)


def stage_vjp(context: Context, function: object, *primals: Value, has_aux: bool = False) -> Value:
    """`vjp` inside a program: the function's result and a pullback."""
    outcome = primal_value(context, function, primals, has_aux)
    pullback = Pullback(context, function, primals, has_aux)
    if not has_aux:
        return outcome, pullback
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        raise AuxiliaryMissing("vjp", outcome_words(outcome))
    return outcome[0], pullback, outcome[1]


# ---------------------------------------------------------------------------- forward mode
@dataclass(frozen=True, slots=True)
class PushForward:
    """(primals, tangents) to the function's result and its tangent; again, where it has printed already."""

    has_aux: bool
    is_again: bool = False

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        primals, tangents = args
        with context.silent() if self.is_again else nullcontext():
            return push_forward_values(context, function, primals, tangents, self.has_aux)


def hessian_product_rule(context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
    """(primals, tangents) to the Hessian times the tangents: forward over reverse."""
    primals, tangents = args
    return stage_hvp(context, function, primals, tangents)


def stage_hvp(context: Context, function: object, primals: Value, tangents: Value) -> Value:
    """`hvp` inside a program."""
    arguments = as_tuple("the primals", primals)
    gradient = Applied(Gradient(tuple(range(len(arguments))), False, "hvp"), function)
    product = push_forward_values(context, gradient, arguments, tangents)[1]
    assert isinstance(product, tuple)
    return product[0] if len(product) == 1 else product


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule on a function, as a function that other rules take."""

    rule: Callable[[Context, object, Args, Kwargs], Value]
    function: object

    @property
    def __wrapped__(self) -> object:
        """The function, whose parameters are those of the transform."""
        return self.function

    def __call__(self, *args: object) -> object:
        """It is a function, and is only ever staged."""
        raise StagedOutside("a transform")

    def __anadrome_stage__(self, context: Context, args: Args, kwargs: Kwargs) -> Value:
        """The transformed function as a part of the program."""
        return self.rule(context, self.function, args, kwargs)


# ---------------------------------------------------------------------------- Jacobians
@dataclass(frozen=True, slots=True)
class _Jacobian:
    """What the rules of Jacobians hold."""

    argnums: Selection
    has_aux: bool
    holomorphic: bool = False

    def _given(
        self,
        way: Callable[..., Value],
        context: Context,
        function: object,
        args: Args,
        kwargs: Kwargs,
        transform: str,
    ) -> Value:
        asked = Asked(transform, self.argnums, self.has_aux, self.holomorphic)
        return way(context, function, args, kwargs, asked)


@dataclass(frozen=True, slots=True)
class ForwardJacobian(_Jacobian):
    """The Jacobian by forward mode."""

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        return self._given(jacobian_forward, context, function, args, kwargs, "jacfwd")


@dataclass(frozen=True, slots=True)
class ReverseJacobian(_Jacobian):
    """The Jacobian by reverse mode."""

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        return self._given(jacobian_reverse, context, function, args, kwargs, "jacrev")


@dataclass(frozen=True, slots=True)
class EitherJacobian(_Jacobian):
    """The Jacobian by the mode that suits the sizes."""

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        return self._given(jacobian_either, context, function, args, kwargs, "jacobian")


@dataclass(frozen=True, slots=True)
class SecondDerivatives(_Jacobian):
    """The Hessian: forward over reverse; with the auxiliary result where there is one."""

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        gradient = Applied(Gradient(self.argnums, self.has_aux, "hessian", self.holomorphic), function)
        return self._given(jacobian_forward, context, gradient, args, kwargs, "hessian")


# ---------------------------------------------------------------------------- rows
@dataclass(frozen=True, slots=True)
class OverRows:
    """The function on every row."""

    in_axes: Axes
    out_axes: Axes

    def __call__(self, context: Context, function: object, args: Args, kwargs: Kwargs) -> Value:
        return map_rows(context, function, args, kwargs, self.in_axes, self.out_axes)
