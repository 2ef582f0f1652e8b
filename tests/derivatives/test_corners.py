"""The conventions at the corners of the primitive table's docstring, through the verbs, in both modes."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import scipy.special

import anadrome as ad
from anadrome.array_ir.interp import run
from anadrome.array_ir.text import parse

INF, NAN = math.inf, math.nan
TINY = 5e-324

CASES = {
    "abs at 0": (np.abs, (0.0,), (0.0,)),
    "math.fabs at -0": (math.fabs, (-0.0,), (0.0,)),
    "sign": (np.sign, (0.3,), (0.0,)),
    "floor": (np.floor, (2.0,), (0.0,)),
    "ceil": (np.ceil, (2.0,), (0.0,)),
    "round": (np.rint, (2.5,), (0.0,)),
    "trunc": (np.trunc, (-1.5,), (0.0,)),
    "floor division": (lambda x, y: x // y, (7.0, 2.0), (0.0, 0.0)),
    "minimum at a tie": (np.minimum, (1.0, 1.0), (1.0, 0.0)),
    "maximum at a tie": (np.maximum, (1.0, 1.0), (1.0, 0.0)),
    "maximum of NaN and a number": (np.maximum, (NAN, 1.0), (1.0, 0.0)),
    "minimum of a number and NaN": (np.minimum, (1.0, NAN), (0.0, 1.0)),
    "sqrt at 0": (np.sqrt, (0.0,), (INF,)),
    "cbrt at 0": (np.cbrt, (0.0,), (INF,)),
    "log at 0": (np.log, (0.0,), (INF,)),
    "log1p at -1": (np.log1p, (-1.0,), (INF,)),
    "arcsin at 1": (np.arcsin, (1.0,), (INF,)),
    "arccos at -1": (np.arccos, (-1.0,), (-INF,)),
    "arccosh at 1": (np.arccosh, (1.0,), (INF,)),
    "arctanh at 1": (np.arctanh, (1.0,), (INF,)),
    "x**0.0 of a run-time 0": (lambda x, y: x**y, (0.0, 0.0), (0.0, 0.0)),
    "x**1.0 at 0": (lambda x, y: x**y, (0.0, 1.0), (1.0, 0.0)),
    "x**2.0 at 0": (lambda x, y: x**y, (0.0, 2.0), (0.0, 0.0)),
    "x**0.5 at 0": (lambda x, y: x**y, (0.0, 0.5), (INF, 0.0)),
    "x**y at 0, y negative": (np.power, (0.0, -1.0), (-INF, -INF)),
    "x**y of a negative x by x": (lambda x: x ** np.float64(3.0), (-2.0,), (12.0,)),
    "x**y of a negative x": (lambda x, y: np.power(x, y), (-2.0, 3.0), (12.0, NAN)),
    "x**0 of a whole number": (lambda x: x**0, (0.0,), (0.0,)),
    "x**1 of a whole number": (lambda x: x**1, (0.0,), (1.0,)),
    "x**2 of a whole number": (lambda x: x**2, (0.0,), (0.0,)),
    "x**-1 of a whole number": (lambda x: x**-1, (2.0,), (-0.25,)),
    "x**0.5, known while compiling": (lambda x: x**0.5, (0.0,), (INF,)),
    "2**x": (lambda x: 2**x, (3.0,), (8.0 * math.log(2.0),)),
    "0**x": (lambda x: 0.0**x, (2.0,), (0.0,)),
    "arctan2 at the origin": (np.arctan2, (0.0, 0.0), (0.0, 0.0)),
    "hypot at the origin": (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    "hypot of large numbers": (np.hypot, (3e200, 4e200), (0.6, 0.8)),
    "distance of equal points": (lambda x, y: math.dist((x, y), (1.0, 2.0)), (1.0, 2.0), (0.0, 0.0)),
    "distance of large numbers": (lambda x, y: math.dist((x, y), (0.0, 0.0)), (3e200, 4e200), (0.6, 0.8)),
    "distance of small numbers": (lambda x, y: math.dist((x, y), (0.0, 0.0)), (3e-310, 4e-310), (0.6, 0.8)),
    "infinite distance": (lambda x, y: math.dist((x, y), (0.0, 0.0)), (INF, NAN), (0.0, 0.0)),
    "arctan2 of large numbers": (lambda y, x: np.arctan2(y, x) * 1e200, (1e200, 1e200), (0.5, -0.5)),
    "copysign": (np.copysign, (2.0, -3.0), (-1.0, 0.0)),
    "copysign of 0": (np.copysign, (0.0, -3.0), (0.0, 0.0)),
    "mod": (lambda x, y: x % y, (-7.0, 2.0), (1.0, 4.0)),
    "fmod": (np.fmod, (-7.0, 2.0), (1.0, 3.0)),
    "lgamma at 0": (scipy.special.gammaln, (0.0,), (-INF,)),
    "lgamma at -1": (scipy.special.gammaln, (-1.0,), (NAN,)),
    "the other branch of where has an infinite slope": (
        lambda x: np.where(x > 0.0, np.sqrt(np.where(x > 0.0, x, 1.0)), 0.0),
        (0.0,),
        (0.0,),
    ),
    "the other side of where is at a pole": (lambda x: np.where(x > 0.0, np.sqrt(x), 0.0), (0.0,), (0.0,)),
    "a branch not taken is not evaluated": (lambda x: np.log(x) if x > 0.0 else 2.0 * x, (0.0,), (2.0,)),
    "a chosen constant": (lambda x: np.where(x > 0.0, x, 0.0), (NAN,), (0.0,)),
    "clip at its bound": (lambda x: np.clip(x, 0.0, 1.0), (1.0,), (1.0,)),
    "clip outside": (lambda x: np.clip(x, 0.0, 1.0), (2.0,), (0.0,)),
    "relu at 0 by maximum": (lambda x: np.maximum(0.0, x), (0.0,), (0.0,)),
    "built-in max at a tie": (lambda x, y: max(x, y), (1.0, 1.0), (1.0, 0.0)),
    "built-in min at a tie": (lambda x, y: min(x, y), (1.0, 1.0), (1.0, 0.0)),
    "logaddexp of two -inf": (lambda x: np.logaddexp(x, 0.0), (-INF,), (0.0,)),
    "sigmoid far out": (scipy.special.expit, (-800.0,), (0.0,)),
    "sigmoid near 1": (scipy.special.expit, (30.0,), (math.exp(-30.0) / (1.0 + math.exp(-30.0)) ** 2,)),
    "logarithm of a sigmoid near 1": (
        lambda x: np.log(scipy.special.expit(x)),
        (40.0,),
        (math.exp(-40.0) / (1.0 + math.exp(-40.0)),),
    ),
    "tanh far out": (np.tanh, (800.0,), (0.0,)),
    "exp overflow": (np.exp, (800.0,), (INF,)),
    "division by 0": (lambda x: x / 0.0 if x > 5.0 else x * 2.0, (1.0,), (2.0,)),
}


@pytest.mark.parametrize("name", CASES)
def test_convention(name):
    function, args, expected = CASES[name]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        value = function(*args)
        got, slopes = ad.value_and_grad(function, argnums=tuple(range(len(args))))(*args)
        np.testing.assert_allclose(got, value, rtol=1e-14)
        np.testing.assert_allclose(slopes, expected, rtol=1e-14)
        for position, slope in enumerate(expected):
            of_one = lambda x: function(*args[:position], x, *args[position + 1 :])
            tangent = ad.jvp(of_one, (args[position],), (1.0,))
            np.testing.assert_allclose(tangent[1], slope, rtol=1e-14)


ARRAYS = {
    "product with one zero": (np.prod, [2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
    "product with two zeros": (np.prod, [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
    "maximum of a tie": (np.max, [1.0, 3.0, 3.0], [0.0, 1.0, 0.0]),
    "minimum of a tie": (np.min, [1.0, 3.0, 1.0], [1.0, 0.0, 0.0]),
    "maximum with NaN": (np.max, [1.0, NAN, 3.0], [0.0, 1.0, 0.0]),
    "built-in maximum of a tie": (lambda x: max(v for v in x), [1.0, 3.0, 3.0], [0.0, 1.0, 0.0]),
    "sort of a tie": (lambda x: np.sort(x) @ np.arange(len(x)), [2.0, 1.0, 1.0], [2.0, 0.0, 1.0]),
    "cumulative product over a zero": (lambda x: np.cumprod(x)[2], [2.0, 0.0, 3.0], [0.0, 6.0, 0.0]),
    "sum of nothing chosen": (lambda x: sum(v for v in x if v > 9.0), [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]),
    "masked logarithm": (lambda x: sum(np.log(v) for v in x if v > 0.0), [1.0, 0.0, -1.0], [1.0, 0.0, 0.0]),
    "an infinite slope that is not read": (lambda x: np.sqrt(x)[0] + x[1], [4.0, 0.0, 1.0], [0.25, 1.0, 0.0]),
    "absolute values at 0": (lambda x: np.sum(np.abs(x)), [0.0, -1.0, 2.0], [0.0, -1.0, 1.0]),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("padding", [0, 17])
def test_convention_in_an_array(name, padding):
    """With 17 further elements, which are cut off first, the size of the array is symbolic."""
    function, values, expected = ARRAYS[name]
    x = np.array([*values, *(5.0,) * padding])
    program = (lambda x: function(x[: len(x) - 17])) if padding else function
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(ad.jit(program)(x), program(x))
        np.testing.assert_allclose(ad.grad(program)(x), [*expected, *(0.0,) * padding])
        forward = [ad.jvp(program, (x,), (direction,))[1] for direction in np.eye(len(x))[:3]]
    finite = [slope for slope, other in zip(forward, expected) if np.isfinite(slope)]
    np.testing.assert_allclose(
        finite, [other for slope, other in zip(forward, expected) if np.isfinite(slope)]
    )


def test_the_winner_is_found_by_the_very_number_that_won() -> None:
    """Distances of few products and sums are cheap to compute twice, and would round differently."""
    random = np.random.default_rng(0)
    points, centers = random.normal(size=(40, 3)), random.normal(size=(30, 3))

    def cost(points, centers):
        distances = np.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
        return np.sum(np.min(distances, axis=1))

    nearest = [int(np.argmin(((point - centers) ** 2).sum(axis=1))) for point in points]
    gradient = ad.grad(cost)(points, centers)
    np.testing.assert_allclose(gradient, 2 * (points - centers[nearest]), rtol=1e-12)


@pytest.mark.parametrize("verb", ("jit", "grad", "jvp"))
def test_rows_that_nothing_uses_are_checked(verb: str) -> None:
    def loss(x, c):
        x[c]
        return np.sum(np.sin(x))

    verbs = {
        "jit": ad.jit(loss),
        "grad": ad.grad(loss),
        "jvp": lambda x, c: ad.jvp(lambda y: loss(y, c), (x,), (x,)),
    }
    x = np.arange(7.0)
    verbs[verb](x, np.array([1, 2, 6]))
    for called in (loss, verbs[verb]):
        with pytest.raises(IndexError):
            called(x, np.array([1, 2, 9]))


# ---------------------------------------------------------------------------- nothing is left
def last_by_all(x):
    y = [v * v for v in x if v > 0.5]
    return np.sum(np.array([y[len(y) - 1] * v for v in y]))


def last_row_by_all(x):
    rows = [[v, v * v] for v in x if v > 0.5]
    y = np.array([w[0] for w in rows])
    return np.sum(np.array([np.sum(y[len(y) - 1 :]) * y[len(y) - 1] for _ in rows]))


def last_of_an_argument(x, y):
    chosen = x[x > 0.5]
    return np.sum(np.array([y[len(chosen) - 1] * y[i + 1] * chosen[i] for i in range(len(chosen))]))


def last_in_each_row(x, y):
    chosen = [v for v in x if v > 0.5]
    k = len(chosen)
    return np.sum(np.array([np.sum(np.array([v * y[k - 1] for _ in x])) for v in chosen]))


@pytest.mark.parametrize("function", [last_by_all, last_row_by_all, last_of_an_argument, last_in_each_row])
@pytest.mark.parametrize("left", [0, 1, 5, 20])
def test_a_place_that_no_iteration_reads(function: Callable[..., float], left: int) -> None:
    x, y = np.zeros(20), np.linspace(1.0, 2.0, 40)
    x[:left] = np.linspace(0.6, 1.5, left)
    args = (x, y)[: function.__code__.co_argcount]
    places = tuple(range(len(args)))
    slopes = ad.grad(function, argnums=places)(*args)
    # As the interpreter sees it, which refuses places outside.
    found = run(
        parse(ad.show(ad.grad(function, argnums=places), *args, stage="optimised")), list(args)
    ).results
    for one, other in zip(slopes, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    step = 1e-6
    for place, slope in zip(places, slopes, strict=True):
        directions = np.cos(np.arange(len(args[place]))) * (args[place] > 0.0)
        ahead, behind = (
            function(*args[:place], args[place] + sign * step * directions, *args[place + 1 :])
            for sign in (1.0, -1.0)
        )
        np.testing.assert_allclose(slope @ directions, (ahead - behind) / (2 * step), rtol=1e-7, atol=1e-8)
