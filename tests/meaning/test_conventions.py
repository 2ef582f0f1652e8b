"""What values alone do not show: one convention in both modes, hints that are right when they are followed,
messages that name what the user did, and state outside that changes between calls."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import anadrome as ad
from anadrome.errors import AnadromeError


# ---------------------------------------------------------------------------- one convention in both modes
def std_of_all(x):
    return np.std(x)


def std_of_all_by_method(x):
    return x.std() * 2.0


def std_along_an_axis(x):
    return np.sum(np.std(np.stack([x, 2.0 * x])[:, :1], axis=1))


def std_of_a_part(x):
    return np.std(np.concatenate([x, x])[1:])


@pytest.mark.parametrize("function", [std_of_all, std_of_all_by_method, std_along_an_axis, std_of_a_part])
@pytest.mark.parametrize("small", [0, 16])
def test_modes_agree_where_a_spread_is_zero(function: Callable[..., Any], small: int) -> None:
    compiled = ad.jit(function, config=ad.Config(small_dimension=small))
    x = np.array([2.0])
    slope = ad.grad(compiled)(x)
    _, tangent = ad.jvp(compiled, (x,), (np.ones(1),))
    np.testing.assert_array_equal(slope, np.array([tangent]))


# ---------------------------------------------------------------------------- the routines of NumPy
@pytest.mark.parametrize("size", [2, 5, 17])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigenvectors_are_numpy_s_up_to_sign(size: int, triangle: str) -> None:
    whole = np.arange(float(size * size)).reshape(size, size) / size + np.diag(np.arange(size) * 3.0)
    values, vectors = ad.jit(lambda m: tuple(np.linalg.eigh(m, triangle)))(whole)
    expected, expected_vectors = np.linalg.eigh(whole, triangle)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(np.abs(vectors), np.abs(expected_vectors), atol=1e-9)


# ---------------------------------------------------------------------------- empty arrays of great width
@pytest.mark.parametrize("shape", [(0, 2**40), (2**40, 0)])
@pytest.mark.parametrize("function", [np.sum, lambda x: (x * x).sum(), lambda x: np.sum(np.sin(x))])
def test_gradients_by_empty_arrays_of_great_width(
    function: Callable[..., Any], shape: tuple[int, ...]
) -> None:
    found = ad.grad(lambda x: function(x))(np.zeros(shape))
    assert found.shape == shape


# ---------------------------------------------------------------------------- hints
def log_density(x, loc, scale):
    return norm.logpdf(x, loc, scale)


def log_density_by_names(x, loc, scale):
    return norm.logpdf(x, loc=loc, scale=scale)


def log_density_of_two(x, loc, scale):
    return norm.logpdf(x, loc)


def distribution(x, loc, scale):
    return norm.cdf(x, loc, scale)


def distribution_by_names(x, loc, scale):
    return norm.cdf(x, scale=scale, loc=loc)


def density(x, loc, scale):
    return norm.pdf(x, loc, scale)


@pytest.mark.parametrize(
    "function",
    [log_density, log_density_by_names, log_density_of_two, distribution, distribution_by_names, density],
)
@pytest.mark.parametrize("size", [0, 3, 70])
def test_a_hint_that_is_followed_is_right(function: Callable[..., Any], size: int) -> None:
    """The program is compiled, or the error says what to write in its place, and that gives the same."""
    x = 0.75 if size == 0 else np.linspace(-1.0, 2.0, size)
    expected = function(x, 0.25, 1.5)
    try:
        found = ad.jit(function)(x, 0.25, 1.5)
    except AnadromeError as error:
        (hint,) = re.findall("`([^`]+)`", error.diagnostic.help)
        names = {"np": np, "math": math, "x": x, "loc": 0.25, "scale": 1.5}
        if "math.erf" in hint and size:
            pytest.skip("the hint is for a number")
        found = eval(hint, names)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# ---------------------------------------------------------------------------- what the user did
def shrinking(v, n):
    for _ in range(n):
        v = 0.5 * (v[:-1] + v[1:])
    return v


def shrinking_while(v, n):
    k = 0
    while k < n:
        v = v[1:]
        k += 1
    return v


def growing(v, n):
    for _ in range(n):
        v = np.append(v, v[0])
    return v


def halving(v, n):
    for _ in range(n):
        v = v[::2] * 2.0
    return v


@pytest.mark.parametrize("function", [shrinking, shrinking_while, growing])
@pytest.mark.parametrize("size", [9, 70])
def test_an_array_that_changes_its_length_is_right_or_named(function: Callable[..., Any], size: int) -> None:
    v = np.arange(float(size)) + 1.0
    try:
        found = ad.jit(function)(v, 3)
    except AnadromeError as error:
        assert "`v`" in str(error)
        assert "arguments" not in str(error)
        return
    np.testing.assert_allclose(found, function(v, 3))


# ---------------------------------------------------------------------------- the world outside
def assert_asked_at_every_call(make: Callable[[], Callable[..., Any]], change: Callable[[int], None]) -> None:
    """A function that asks what changes between two calls gives what Python gives, or is refused."""

    def both(function: Callable[..., Any]) -> list[Any]:
        found = []
        for number in range(2):
            change(number)
            found.append(function(1.5))
        return found

    expected = both(make())
    try:
        found = both(ad.jit(make()))
    except AnadromeError:
        return
    assert found == expected


def counting() -> Callable[..., Any]:
    counter = itertools.count()

    def program(x):
        return x + next(counter)

    return program


def taking() -> Callable[..., Any]:
    numbers = iter([1.0, 2.0, 3.0, 4.0, 5.0])

    def program(x):
        return x * next(numbers)

    return program


def logging() -> Callable[..., Any]:
    log: list[float] = []

    def program(x):
        log.append(1.0)
        return x + len(log)

    return program


@pytest.mark.parametrize("make", [counting, taking, logging])
def test_state_outside_is_not_frozen(make: Callable[[], Callable[..., Any]]) -> None:
    assert_asked_at_every_call(make, lambda number: None)


def of_environ_get(x):
    return x + float(os.environ.get("ANADROME_MEANING", "0"))


def of_environ_item(x):
    return x + float(os.environ["ANADROME_MEANING"])


def of_getenv(x):
    return x + float(os.getenv("ANADROME_MEANING") or 0)


def of_environ_in(x):
    return x + (1.0 if os.environ["ANADROME_MEANING"] == "2" else 2.0)


@pytest.mark.parametrize("program", [of_environ_get, of_environ_item, of_getenv, of_environ_in])
def test_the_environment_is_not_frozen(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def change(number: int) -> None:
        monkeypatch.setenv("ANADROME_MEANING", str(number + 1))

    assert_asked_at_every_call(lambda: program, change)
