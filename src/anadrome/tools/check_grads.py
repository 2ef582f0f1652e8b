"""Derivatives against one another: forward mode, reverse mode and finite differences in random directions.

With x the arguments, v a random direction and w a random weight of the results,

    forward:   ⟨w, J v⟩ by jvp
    reverse:   ⟨Jᵀw, v⟩ by vjp
    numeric:   ⟨w, f(x + h v) - f(x - h v)⟩ / 2h, of the original Python function

must agree, for each argument by itself. Order 2 checks x ↦ ∇⟨w, f(x)⟩ in the same way, whose numeric
derivative is that of the compiled gradient (checked just before).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from anadrome.api import pytree
from anadrome.api.call import Compiled, Rule
from anadrome.api.derivatives.gradients import pull_back_values
from anadrome.api.derivatives.tangents import push_forward_values
from anadrome.api.places import placed
from anadrome.api.signature import parameter_names
from anadrome.errors.api import GradientMismatch, SettingMismatch
from anadrome.errors.tracebacks import door
from anadrome.frontend.context import Context
from anadrome.frontend.values import Value, is_staged

FORWARD, REVERSE, NUMERIC = "forward mode", "reverse mode", "finite differences"


@door
def check_grads(
    function: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("fwd", "rev"),
    eps: float = 1e-5,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    seed: int = 0,
) -> None:
    """Raise `GradientMismatch`, which names the argument, its line and the numbers, unless all agree.

    Arguments that hold no floats are passed as they are. `order` is 1 or 2; `modes` are checked against
    finite differences of step `eps` (relative to the size of the argument) to `rtol` and `atol`, and
    against each other a thousand times as sharply. Single precision wants a larger `eps` and `rtol`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.check_grads(lambda x, y: x * np.sin(y), (2.0, 3.0), order=2)
    """
    if isinstance(function, Compiled):
        function = function.without_donation()
    python = function.python if isinstance(function, Compiled) and function.transform == "jit" else function
    try:
        _check_settings(args, modes, order, eps, rtol, atol)
    except SettingMismatch as error:
        raise placed(error, python) from None
    random = np.random.default_rng(seed)
    check = _Check(modes, eps, rtol, atol, random, parameter_names(function))
    try:
        check.run(function, python, tuple(args), len(args), 1)
        if order > 1:
            weights = pytree.map_leaves(lambda leaf: _direction(leaf, random), function(*args))
            gradient = Compiled("check_grads", function, _gradient_rule, has_own_arguments=True)
            check.run(gradient, gradient, (*args, weights), len(args), 2)
    except GradientMismatch as error:
        raise placed(error, python) from None


def _check_settings(
    args: object, modes: object, order: object, eps: object, rtol: object, atol: object
) -> None:
    """Refuse a call that would check nothing, or something else than is asked for."""
    names = modes if isinstance(modes, tuple | list | set | frozenset) else ()
    if not names or not all(name in ("fwd", "rev") for name in names):
        help = '"fwd" is forward mode, "rev" reverse mode; one alone is `modes=("fwd",)`'
        raise SettingMismatch("check_grads", "modes", 'a tuple of "fwd", "rev" or both', modes, help)
    if order not in (1, 2):
        help = "order 1 checks derivatives, order 2 those of the gradient too"
        raise SettingMismatch("check_grads", "order", "1 or 2", order, help)
    if not isinstance(args, tuple | list):
        help = "give the arguments as a tuple, one alone as `(x,)`"
        raise SettingMismatch("check_grads", "args", "the tuple of the arguments", args, help)
    numbers = {"eps": eps, "rtol": rtol, "atol": atol}
    for name, number in numbers.items():
        if (
            not isinstance(number, int | float)
            or not 0.0 <= number < math.inf
            or (name == "eps" and not number)
        ):
            help = "`eps` is the step of the differences, `rtol` and `atol` how far derivatives may be apart"
            raise SettingMismatch("check_grads", name, "a positive number", number, help)
    if not any(floats_of(arg) for arg in args):
        help = "derivatives are checked by floats: give `2.0` for `2`, `x.astype(np.float64)` for an array x"
        raise SettingMismatch("check_grads", "args", "a tuple with floats in it", tuple(args), help)


# ---------------------------------------------------------------------------- rules
@dataclass(frozen=True, slots=True)
class _OfFloats:
    """A function of the float leaves of some of its arguments, the rest being given."""

    function: object
    args: tuple[Value, ...]
    positions: tuple[int, ...]

    @property
    def floats(self) -> list[Value]:
        """The float leaves."""
        return [leaf for position in self.positions for leaf in floats_of(self.args[position])]

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """The function with its float leaves replaced, run by Python."""
        return self.function(*self._given(leaves))  # type: ignore[operator]

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """The same as a part of a program."""
        (leaves,) = args
        assert isinstance(leaves, list)
        return context.call(self.function, *self._given(leaves))

    def _given(self, leaves: Sequence[Value]) -> list[Value]:
        given = list(self.args)
        supply = iter(leaves)
        for position in self.positions:
            given[position] = pytree.map_leaves(
                lambda leaf: next(supply) if _is_float(leaf) else leaf, given[position]
            )
        return given


def _forward_rule(position: int) -> Rule:
    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        arguments, tangents = args
        assert isinstance(arguments, tuple)
        of_one = _OfFloats(inner, arguments, (position,))
        return push_forward_values(context, of_one, (of_one.floats,), (tangents,))

    return rule


def _reverse_rule(position: int) -> Rule:
    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        arguments, cotangent = args
        assert isinstance(arguments, tuple)
        of_one = _OfFloats(inner, arguments, (position,))
        adjoints = pull_back_values(context, of_one, (of_one.floats,), cotangent, False)[1]
        assert isinstance(adjoints, tuple)
        return adjoints[0]

    return rule


def _gradient_rule(
    context: Context, inner: object, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """(*args, weights) to the cotangents of every float leaf of the arguments."""
    *arguments, weights = args
    places = tuple(place for place, arg in enumerate(arguments) if floats_of(arg))
    of_floats = _OfFloats(inner, tuple(arguments), places)
    return pull_back_values(context, of_floats, (of_floats.floats,), weights, False)[1]


# ---------------------------------------------------------------------------- comparing
@dataclass(frozen=True, slots=True)
class _Check:
    """One call of `check_grads`: what is compared, how sharply, and where directions come from."""

    modes: Sequence[str]
    eps: float
    rtol: float
    atol: float
    random: np.random.Generator
    names: Sequence[str]

    def run(
        self,
        function: Callable[..., Any],
        python: Callable[..., Any],
        args: tuple[Any, ...],
        count: int,
        order: int,
    ) -> None:
        """Compare the derivatives by each of the first `count` arguments that holds floats."""
        for position in range(count):
            if floats_of(args[position]):
                self.argument(function, python, args, position, order)

    def argument(
        self,
        function: Callable[..., Any],
        python: Callable[..., Any],
        args: tuple[Any, ...],
        position: int,
        order: int,
    ) -> None:
        """Compare the derivatives by one argument."""
        start = floats_of(args[position])
        direction = [_direction(leaf, self.random) for leaf in start]
        out, tangent = Compiled("jvp", function, _forward_rule(position), has_own_arguments=True)(
            args, direction
        )
        leaves, structure = pytree.flatten(out)
        weights = [_direction(leaf, self.random) for leaf in leaves]
        found: dict[str, float] = {}
        if "fwd" in self.modes:
            found[FORWARD] = _inner(weights, pytree.flatten(tangent)[0])
        if "rev" in self.modes:
            cotangent = pytree.unflatten(structure, _conjugated(structure, weights))
            adjoint = Compiled("vjp", function, _reverse_rule(position), has_own_arguments=True)(
                args, cotangent
            )
            found[REVERSE] = _inner(direction, adjoint)
        numeric = _numeric(_OfFloats(python, args, (position,)), start, direction, weights, self.eps)
        name = self.names[position] if position < len(self.names) else str(position)
        _compare(name, order, found, numeric, self.rtol, self.atol)


def _conjugated(structure: pytree.Structure, weights: Sequence[Any]) -> list[Any]:
    """The cotangent of these weights: of a complex result x + iy it is shown as x_adj - i·y_adj."""
    places = pytree.imaginary_places(structure)
    return [-weight if is_imaginary else weight for weight, is_imaginary in zip(weights, places, strict=True)]


def _compare(
    name: str, order: int, found: dict[str, float], numeric: tuple[float, float], rtol: float, atol: float
) -> None:
    pairs = list(found.items())
    difference, size = numeric
    for (left, one), (right, other) in pairwise(pairs):
        if not np.isclose(one, other, rtol=1e-3 * rtol, atol=1e-3 * atol + 1e-3 * rtol * size):
            raise GradientMismatch(name, order, left, one, right, other)
    for mode, value in pairs:
        if not np.isclose(value, difference, rtol=rtol, atol=atol + rtol * size):
            raise GradientMismatch(name, order, mode, value, NUMERIC, difference)


def _numeric(
    function: Callable[..., Any], start: list[Any], direction: list[Any], weights: list[Any], eps: float
) -> tuple[float, float]:
    """The central difference of ⟨weights, f⟩, and the size of the terms it is made of."""
    size = max((float(np.max(np.abs(leaf), initial=0.0)) for leaf in start), default=0.0)
    step = eps * max(1.0, size)
    ahead, behind = (
        pytree.flatten(
            function([_moved(leaf, sign * step, way) for leaf, way in zip(start, direction, strict=True)])
        )[0]
        for sign in (1.0, -1.0)
    )
    parts = [
        np.asarray(weight, dtype=np.float64)
        * (np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64))
        / (2.0 * step)
        for weight, one, other in zip(weights, ahead, behind, strict=True)
        if weight is not None
    ]
    return float(sum(np.sum(part) for part in parts)), float(sum(np.sum(np.abs(part)) for part in parts))


def _moved(leaf: Any, step: float, way: Any) -> Any:
    moved = leaf + step * way
    return np.asarray(moved, dtype=leaf.dtype)[()] if hasattr(leaf, "dtype") else moved


# ---------------------------------------------------------------------------- floats among the leaves
def floats_of(arg: Any) -> list[Any]:
    """The leaves of an argument that are floats."""
    return [leaf for leaf in pytree.flatten(arg)[0] if _is_float(leaf)]


def _is_float(leaf: Any) -> bool:
    if is_staged(leaf):
        return bool(leaf.dtype.is_float)
    return isinstance(leaf, float) or (hasattr(leaf, "dtype") and np.issubdtype(leaf.dtype, np.floating))


def _direction(leaf: Any, random: np.random.Generator) -> Any:
    """A random tangent of a float leaf; zeros for another."""
    if not _is_float(leaf):
        return np.zeros_like(leaf)
    drawn = random.standard_normal(np.shape(leaf))
    return float(drawn) if isinstance(leaf, float) else np.asarray(drawn, dtype=leaf.dtype)[()]


def _inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    pairs = zip(left, right, strict=True)
    return float(
        sum(np.sum(np.asarray(a, dtype=np.float64) * np.asarray(b, dtype=np.float64)) for a, b in pairs)
    )
