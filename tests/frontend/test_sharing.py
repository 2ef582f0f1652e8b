"""Arrays of which only the run knows which one they are: what a write to one does to the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anadrome as ad
from tests.frontend.oracle import agree


def alias_after_a_branch(x, t):
    a, b = x.copy(), x * 2
    if t > 0:
        a = b
    a[0] = 7.0
    b[1] = a[2] * 8.0
    return a, b


def exchanged_in_a_branch(x, t):
    a, b = x.copy(), x * 2
    both = [a, b]
    if t > 0:
        a, b = b, a
    a[0] = b[2] * 7.0
    b[1] = 8.0
    return a, b, both


def a_column_after_a_branch(x, t):
    a, m = x.copy(), np.outer(x, x)
    if t > 0:
        a = m.T[1]
    a += 1.0
    m[2] *= 3
    a[::2] *= 2
    return a, m


def written_in_a_loop(x, t):
    a, b = x.copy(), x * 2
    if t > 0:
        a = b
    for i in range(len(x) - 1):
        a[i + 1] += b[i] * 0.5
    return a, b


def chosen_of_chosen(x, t):
    a, b = x.copy(), x * 2
    if t > 0:
        a = b
    if t > -0.5:
        c = a
    else:
        c = b[:]
    c[0] = b[1] * 3.0
    a[1] = 200.0
    b[2] = c[0]
    return a, b, c


def made_on_one_way_under_two_names(x, t):
    if t > 0:
        a = b = x * 2
    else:
        a, b = x * 3, x * 4
    a[0] = 5.0
    b[1] += a[0] * b[0]
    return a, b


def exchanged_in_a_loop(x, t):
    a, b = x.copy(), x * 2
    for i in range(len(x)):
        if x[i] > 1.5:
            a, b = b, a
        a[i] += b[0]
        b[i] *= 2.0
    return a, b


def one_after_the_other(x, t):
    a, b = x.copy(), x * 2
    for _ in range(len(x)):
        a, b = b, a * 0.5
    a[0] = 3.0
    b[1] = a[2] * 4.0
    return a, b


def another_row_on_each_way(x, t):
    m = np.outer(x, x)
    if t > 0:
        v = m[1]
    else:
        v = m[:, 2]
    v *= 2
    return m, v


def one_array_after_a_loop(x, t):
    a, b = x.copy(), x * 2
    for _ in range(round(2 * t + 2)):
        a = b
    b[0] = x[1] ** 2
    return a, b


def one_array_in_a_loop(x, t):
    a, b = x.copy(), x * 2
    total = 0.0
    for i in range(round(2 * t + 2)):
        b[0] = i * x[1]
        total += a[0] * a[1]
        a = b
    return total


def alias_that_is_left(x, t):
    y = x.copy()
    z = y
    total = 0.0
    for i in range(len(x)):
        total += z[0]
        y[0] = i * x[0]
        y = y + 1
    return total


def the_same_in_every_iteration(x, t):
    a, b = x.copy(), x * 2
    for i in range(len(x)):
        a, b = b, b
        a[i] = b[0] + 1.0
    return a, b


def kept_in_a_dict(x, t):
    a, b = x.copy(), x * 2
    held = {"w": a}
    for i in range(len(x)):
        held["w"] = a if t > 0 else held["w"]
        a[i] += held["w"][0] * b[i]
    return held["w"], a


def turned_around(x, t):
    a = x.copy()
    for _ in range(round(t + 2)):
        a = a[::-1]
    row = a.ravel()
    row[0] = 100.0
    return row


FUNCTIONS = (
    *(alias_after_a_branch, exchanged_in_a_branch, a_column_after_a_branch, written_in_a_loop),
    *(chosen_of_chosen, made_on_one_way_under_two_names, exchanged_in_a_loop, one_after_the_other),
    *(another_row_on_each_way, one_array_after_a_loop, one_array_in_a_loop, alias_that_is_left),
    *(the_same_in_every_iteration, kept_in_a_dict, turned_around),
)
NAMES = [function.__name__ for function in FUNCTIONS]
SIZES = (4, 23)


def leaves(value: Any) -> list[Any]:
    """The arrays of a result."""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("t", [1.0, -0.2, -1.0])
@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_means_what_python_means(function, t, size) -> None:
    agree(function, np.linspace(0.5, 3.0, size), t)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("t", [1.0, -0.2, -1.0])
@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_both_modes_give_the_derivative(function, t, size) -> None:
    x = np.linspace(0.5, 3.0, size)

    def loss(x: Any) -> Any:
        return sum(np.sum(np.sin(leaf)) for leaf in leaves(function(x, t)))

    direction = np.cos(np.arange(size))
    slope = (loss(x + 1e-6 * direction) - loss(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(ad.grad(loss)(x) @ direction, slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.jvp(loss, (x,), (direction,))[1], slope, rtol=1e-6, atol=1e-7)


def turned_around_and_read(x, t):
    a = x.copy()
    for _ in range(round(t + 2)):
        a = a[::-1]
    row = a.ravel()
    row[0] = 100.0
    return a


def test_a_layout_that_only_the_run_knows_is_refused() -> None:
    x = np.arange(23.0)
    with pytest.raises(ad.errors.frontend.WritesThroughView):
        ad.jit(turned_around_and_read)(x, 1.0)
