"""Eight small programs that other systems get silently wrong: right here in value and gradient."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad


def logistic_map(r, x, steps):
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def used_before_and_after(x, steps):
    scale = x * x
    total = 0.0
    for i in range(steps):
        total = total + scale * i
    return total * scale


def square_of_accumulator(values):
    total = 0.0
    for value in values:
        total = total + value
    return total * total


def harmonic(values):
    total = 0.0
    for value in values:
        total += 1.0 / value
    return 1.0 / total


def reciprocal_in_a_call(values):
    return 2.0 * harmonic(values)


def running_maximum(values):
    best = values[0]
    for value in values:
        if value <= best:
            continue
        best = value
    return best * best


def copied_and_overwritten(x):
    kept = x.copy()
    work = x.copy()
    for i in range(len(work)):
        work[i] = 2.0 * work[i]
    total = 0.0
    for i in range(len(work)):
        total = total + work[i] * kept[i] * x[i]
    return total


def squared_in_place_twice(x):
    work = x.copy()
    for i in range(len(work)):
        work[i] = work[i] * work[i]
    for i in range(len(work)):
        work[i] = work[i] * work[i]
    return np.sum(work)


def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


VECTOR = np.array([0.7, 1.9, 0.4, 1.3])
LONG = np.linspace(0.5, 1.5, 40)


def logistic_map_slopes(r, x, steps):
    """By r and by x, with the chain rule by hand."""
    by_r, by_x = 0.0, 1.0
    for _ in range(steps):
        by_r, by_x = x * (1 - x) + r * (1 - 2 * x) * by_r, r * (1 - 2 * x) * by_x
        x = r * x * (1 - x)
    return by_r, by_x


def sum_of_reciprocals(values):
    return np.sum(1.0 / values)


CASES = {
    "logistic map, runtime steps": (
        logistic_map,
        (3.2, 0.3, 7),
        (0, 1),
        logistic_map_slopes(3.2, 0.3, 7),
    ),
    "used before and after a loop": (used_before_and_after, (1.3, 5), (0,), (4 * 10 * 1.3**3,)),
    "square of an accumulator": (
        square_of_accumulator,
        (VECTOR,),
        (0,),
        (np.full(4, 2 * VECTOR.sum()),),
    ),
    "reciprocal of an accumulator in a call": (
        reciprocal_in_a_call,
        (VECTOR,),
        (0,),
        (2.0 / sum_of_reciprocals(VECTOR) ** 2 / VECTOR**2,),
    ),
    "running maximum with continue": (
        running_maximum,
        (VECTOR,),
        (0,),
        (np.array([0.0, 2 * 1.9, 0.0, 0.0]),),
    ),
    "copied, overwritten, read again": (copied_and_overwritten, (VECTOR,), (0,), (6 * VECTOR**2,)),
    "squared in place twice": (squared_in_place_twice, (LONG,), (0,), (4 * LONG**3,)),
    "Newton's square root": (newton_square_root, (2.0,), (0,), (0.5 / np.sqrt(2.0),)),
}


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(name):
    function, arguments, argnums, expected = CASES[name]
    value, slopes = ad.value_and_grad(function, argnums=argnums)(*arguments)
    np.testing.assert_allclose(value, function(*arguments), rtol=1e-13)
    for slope, right in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(slope, right, rtol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_all_modes_agree(name):
    function, arguments, argnums, _ = CASES[name]
    ad.check_grads(
        lambda *active: function(*active, *arguments[len(argnums) :]), arguments[: len(argnums)], order=2
    )
