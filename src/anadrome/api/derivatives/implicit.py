"""Fixed points and roots of the user's functions, differentiated by the implicit function theorem.

The function is staged as a function of the unknowns and of every number it depends on: the parameters that
are passed, and whatever it closes over. So a derivative by a value that the function only reads is found too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anadrome.api import pytree
from anadrome.api.arguments import active_arguments
from anadrome.api.call import transformed
from anadrome.api.closures import ClosureConverted, convert_closure, staged_leaf
from anadrome.api.derivatives.gradients import fitted, outcome_words, type_words
from anadrome.api.derivatives.implicit_steps import Problem, newton, solve
from anadrome.array_ir.nodes import ArrayType, Atom, Function
from anadrome.compile import prepare
from anadrome.errors.api import ComplexDerivative, SettingMismatch, UnknownsMismatch
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.values import Staged, Value
from anadrome.frontend.verbs import verb

Python = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """When an iteration ends."""

    verb: str
    tolerance: float
    max_iterations: int

    def hold(self) -> None:
        """Refuse settings that make no sense."""
        help = "give a number that is known when the function is compiled"
        tolerance: object = self.tolerance
        if not isinstance(tolerance, int | float) or isinstance(tolerance, bool) or not tolerance >= 0:
            raise SettingMismatch(self.verb, "tolerance", "a number that is not negative", tolerance, help)
        limit: object = self.max_iterations
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise SettingMismatch(self.verb, "max_iterations", "an integer of at least 1", limit, help)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """The function, with a result that has the types of the unknowns."""

    function: object
    verb: str

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """What the function gives, held to the form of its first argument."""
        outcome = context.call(self.function, *args, **kwargs)
        leaves, structure = pytree.flatten(args[0])
        found, form = pytree.flatten(outcome)
        what = "what its function returns"
        if form != structure:
            raise UnknownsMismatch(self.verb, what, pytree.describe(structure), outcome_words(outcome))
        fits: list[Value] = []
        for leaf, result in zip(leaves, found, strict=True):
            staged, given = staged_leaf(context, leaf), staged_leaf(context, result)
            assert staged is not None
            type_ = ArrayType(staged.dtype, staged.shape)
            if given is None or len(given.shape) != type_.rank:
                raise UnknownsMismatch(self.verb, what, type_words(type_), describe(result))
            named = f"the result of the function of `{self.verb}`"
            fits.append(context.wrap(fitted(context, named, result, type_)))
        return pytree.unflatten(structure, fits)


@dataclass(frozen=True, slots=True, eq=False)
class _Unknowns:
    """The function of a call, converted: `step` takes what is read around it, the parameters, the
    unknowns."""

    converted: ClosureConverted
    step: Function
    constants: tuple[Atom, ...]
    start: tuple[Atom, ...]
    structure: pytree.Structure


def _unknowns(context: Context, settings: Settings, function: object, args: Sequence[Value]) -> _Unknowns:
    settings.hold()
    first = active_arguments(context, settings.verb, args, {}, 0, ("x0",))
    if first.others:
        raise UnknownsMismatch(
            settings.verb,
            "the start",
            "floats and arrays of them",
            describe(next(iter(first.others.values()))),
        )
    leaves: dict[int, Staged] = dict(first.leaves)
    count = len(leaves)
    for place, leaf in enumerate(pytree.flatten(tuple(args))[0]):
        staged = staged_leaf(context, leaf) if place >= count and not isinstance(leaf, bool | int) else None
        if staged is not None and staged.dtype.is_float:
            leaves[place] = staged
    with context.unprinted(f"`{settings.verb}` runs this function as often as it needs"):
        converted = convert_closure(context, _Fitted(function, settings.verb), args, {}, leaves)
    step = converted.prepared(context)
    outside = len(converted.outside)
    params = step.params
    unknown = params[outside : outside + count]
    given = tuple(atom(context, leaf) for leaf in leaves.values())
    ordered = Function(step.name, (*params[:outside], *params[outside + count :], *unknown), step.body)
    return _Unknowns(converted, ordered, (*converted.outside, *given[count:]), given[:count], first.structure)


# ---------------------------------------------------------------------------- fixed points
@dataclass(frozen=True, slots=True)
class FixedPoint:
    """The fixed point of a function, from a start and parameters."""

    settings: Settings

    def __call__(
        self, context: Context, function: object, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        unknowns = _unknowns(context, self.settings, function, args)
        return _solved(context, self.settings, unknowns, unknowns.step, "a fixed point")


def _solved(context: Context, settings: Settings, unknowns: _Unknowns, step: Function, what: str) -> Value:
    problem = Problem(
        what,
        unknowns.step,
        step,
        len(unknowns.start),
        float(settings.tolerance),
        settings.max_iterations,
        1.0,
        context.config,
    )
    found = solve(context.builder, problem, unknowns.constants, unknowns.start, context.derivatives())
    return unknowns.converted.value(context, found)


def _stage_fixed_point(
    context: Context,
    function: object,
    x0: Value,
    *params: Value,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> Value:
    rule = FixedPoint(Settings("fixed_point", tolerance, max_iterations))
    return rule(context, function, (x0, *params), {})


@verb(_stage_fixed_point)
def fixed_point(
    function: Python, x0: Any, *params: Any, tolerance: float = 1e-10, max_iterations: int = 1000
) -> Any:
    """The x with x = function(x, *params), found by iterating from `x0`, and differentiable.

    `x0` is a number, an array or a container of them, all floats; the function gives the same form. Ends
    where the largest change is at most `tolerance` times the largest of 1 and the elements of x, and raises
    `NotConverged` where `max_iterations` do not reach that.

    The derivative is that of the fixed point, not of the iterations: by the implicit function theorem it is
    another fixed point, w = x_adj + f_xᵀ·w, found by the same iteration in memory that does not depend on how
    many there are (Griewank & Walther 2008, §15.3). It is one with respect to `params` and everything the
    function reads; with respect to `x0` it is zero. Derivatives of every order are found so.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> def kepler(mean, eccentricity):
    ...     return ad.fixed_point(lambda e: mean + eccentricity * np.sin(e), mean)
    >>> slope = ad.grad(kepler)(1.0, 0.3)
    >>> round(float(slope * (1 - 0.3 * np.cos(ad.jit(kepler)(1.0, 0.3)))), 9)
    1.0
    """
    rule = FixedPoint(Settings("fixed_point", tolerance, max_iterations))
    return transformed("fixed_point", function, rule, has_own_arguments=True)(x0, *params)


# ---------------------------------------------------------------------------- roots
@dataclass(frozen=True, slots=True)
class Root:
    """The root of a function, from a start and parameters: the fixed point of Newton's step."""

    settings: Settings

    def __call__(
        self, context: Context, function: object, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        unknowns = _unknowns(context, self.settings, function, args)
        if pytree.is_complex_node(unknowns.structure):
            help = "look for both parts: give an array of two floats, and return two"
            expected = "the unknowns must be one real number or array"
            raise ComplexDerivative("root", expected, "complex ones", help)
        if len(unknowns.start) != 1:
            raise UnknownsMismatch(
                "root", "the start", "one float or one array", f"{len(unknowns.start)} of them"
            )
        step = prepare(newton(unknowns.step, context.span), context.config)
        return _solved(context, self.settings, unknowns, step, "a root")


def _stage_root(
    context: Context,
    function: object,
    x0: Value,
    *params: Value,
    tolerance: float = 1e-10,
    max_iterations: int = 50,
) -> Value:
    rule = Root(Settings("root", tolerance, max_iterations))
    return rule(context, function, (x0, *params), {})


@verb(_stage_root)
def root(function: Python, x0: Any, *params: Any, tolerance: float = 1e-10, max_iterations: int = 50) -> Any:
    """The x with function(x, *params) = 0, found by Newton's method from `x0`, and differentiable.

    `x0` is a float or an array of floats, and the function gives as many. The Jacobian is found by forward
    mode, and a system is solved by LAPACK. Ends where the largest step is at most `tolerance` times the
    largest of 1 and the elements of x; raises `NotConverged` where `max_iterations` do not reach that, and
    `SingularMatrix` where the Jacobian is singular.

    The derivative is that of the root, by the implicit function theorem: x_tan = -f_x⁻¹·f_c·c_tan with
    respect to `params` and everything the function reads, and zero with respect to `x0`. So it does not pass
    through the iterations, and every order of it is right.

    >>> import anadrome as ad
    >>> float(ad.grad(lambda a: ad.root(lambda x: x * x - a, 1.0))(4.0))
    0.25
    """
    rule = Root(Settings("root", tolerance, max_iterations))
    return transformed("root", function, rule, has_own_arguments=True)(x0, *params)
