"""Indices that are out of range: an error where the run reaches them, and only there."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad


def guarded_return(x, c):
    if c > 0.0 and len(x) > 1:
        return x[1]
    return -1.0


def guarded_expression(x, c):
    return x[1] if c > 0.0 and len(x) > 1 else 0.0


def guarded_by_or(x, c):
    if c < 0.0 or len(x) < 3:
        return 1.0
    return x[2] * c


def guarded_in_a_loop(x, c):
    total = 0.0
    for v in x:
        if v > 0.0 and len(x) > 2:
            total += x[2]
    return total


def guarded_while(x, c):
    total = 0.0
    while total < c and len(x) > 3:
        total += x[3] + 0.75
    return total


def reached_under_a_condition(x, c):
    if c > 0.0:
        return x[2]
    return 2.0


def written_under_a_condition(x, c):
    a = x.copy()
    if np.any(a > 1.0):
        a[-2] = 1.0
    return a


def reached_in_a_comprehension(x, c):
    return sum(x[3] for _ in range(int(c)))


@pytest.mark.parametrize(
    "function",
    [
        guarded_return,
        guarded_expression,
        guarded_by_or,
        guarded_in_a_loop,
        guarded_while,
        reached_under_a_condition,
        written_under_a_condition,
        reached_in_a_comprehension,
    ],
)
def test_an_index_out_of_range_is_an_error_where_the_run_reaches_it(function):
    compiled_function = ad.jit(function)
    for size in (0, 1, 2, 3, 5):
        for c in (-1.0, 1.0):
            x = np.arange(size) - 0.5
            try:
                expected = function(x, c)
            except IndexError:
                with pytest.raises(IndexError, match=f"dimension of size {size}"):
                    compiled_function(x, c)
                continue
            np.testing.assert_array_equal(compiled_function(x, c), expected)


def test_an_index_out_of_range_that_is_certain_to_be_reached_is_an_error_now():
    def third(x):
        return x[2] * 2.0

    with pytest.raises(ad.errors.frontend.StaticIndexError):
        ad.jit(third)(np.ones(2))
    with pytest.raises(ad.errors.frontend.StaticIndexError):
        ad.grad(third)(np.ones(2))


def guarded_slope(x, c):
    if np.sum(x) > c and len(x) > 1:
        return x[0] * x[1]
    return x[0] ** 2


@pytest.mark.parametrize(
    ("x", "c", "expected"),
    [
        ([0.5], 0.0, [1.0]),
        ([0.5], 9.0, [1.0]),
        ([0.5, 2.0], 0.0, [2.0, 0.5]),
        ([0.5, 2.0], 9.0, [1.0, 0.0]),
    ],
)
def test_derivatives_of_guarded_indices(x, c, expected):
    np.testing.assert_allclose(ad.grad(guarded_slope)(np.array(x), c), expected)


def of_a_part(x, i):
    o = x * 1.0
    part = o[1:3]
    part[i] = 6.0
    return o


def of_steps(x, i):
    o = x * 1.0
    part = o[:4:2]
    part[i] += 6.0
    return o


def of_columns(x, i):
    o = np.outer(x, x)
    part = o[:, 1:3]
    part[0, i] = 6.0
    return o


def of_a_row(x, i):
    o = np.outer(x, x)
    row = o[1:3][i]
    row[...] = 7.0
    return o


@pytest.mark.parametrize("program", [of_a_part, of_steps, of_columns, of_a_row])
@pytest.mark.parametrize("i", [-3, -2, 1, 2, np.array([-3]), np.array([1]), np.array([2]), np.array([0, 2])])
def test_what_is_outside_of_a_view_is_not_written_inside_of_its_base(program, i):
    x = np.arange(5.0)
    compiled_function = ad.jit(program)
    if np.all((np.asarray(i) >= -2) & (np.asarray(i) < 2)):
        np.testing.assert_array_equal(compiled_function(x, i), program(x, i))
        return
    with pytest.raises(IndexError):
        compiled_function(x, i)


def test_an_empty_view_has_no_elements_to_write():
    def first(x):
        o = x * 1.0
        o[:0][[0]] = 6.0
        return o

    with pytest.raises(IndexError):
        ad.jit(first)(np.arange(5.0))
