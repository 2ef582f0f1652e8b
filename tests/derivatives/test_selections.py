"""Masks, quantiles, borders, windows, bins and the methods of universal functions: value and derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.frontend.parallel.ufuncs import UFUNC_METHODS
from tests.derivatives.agreement import agree, assert_same
from tests.derivatives.editing_rows import EDITING
from tests.derivatives.selection_rows import SELECTIONS, VALUES, keys_of

RANDOM = np.random.default_rng(3)
LONG, SHORT = RANDOM.normal(size=20), RANDOM.normal(size=5)


@pytest.mark.parametrize("row", range(len(SELECTIONS)))
def test_derivatives(row: int) -> None:
    agree(SELECTIONS[row][1], SHORT if row % 3 == 0 else LONG)


@pytest.mark.parametrize("row", range(0, len(SELECTIONS), 5))
def test_second_derivatives(row: int) -> None:
    agree(SELECTIONS[row][1], SHORT, order=2)


@pytest.mark.parametrize("row", range(len(EDITING)))
def test_derivatives_of_what_writes_and_edits(row: int) -> None:
    agree(EDITING[row][1], SHORT if row % 3 == 0 else LONG)


@pytest.mark.parametrize("row", range(0, len(EDITING), 4))
def test_second_derivatives_of_what_writes_and_edits(row: int) -> None:
    agree(EDITING[row][1], SHORT, order=2)


@pytest.mark.parametrize("row", range(len(VALUES)))
def test_values(row: int) -> None:
    program = VALUES[row][1]
    for x in (LONG, SHORT):
        assert_same(ad.jit(program)(x), program(x))


def test_ties_of_medians_share_nothing() -> None:
    gradient = ad.grad(lambda x: np.median(x))(np.array([1.0, 2.0, 2.0, 3.0]))
    np.testing.assert_array_equal(gradient, [0.0, 0.5, 0.5, 0.0])


def test_empty_masks_and_windows() -> None:
    gradient = ad.grad(lambda x: np.sum(x[x > 99.0] ** 2) + 0.0 * x[0])(LONG)
    np.testing.assert_array_equal(gradient, 0.0)
    for program in (lambda x: np.median(x), lambda x: np.pad(x, 1, mode="edge"), lambda x: np.convolve(x, x)):
        with pytest.raises(ValueError, match="empty"):
            ad.jit(program)(np.zeros(0))


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda x: np.percentile(x, x[0] * 1e9), "between"),
        (lambda x: np.digitize(x, x), "rise or fall"),
        (lambda x: np.histogram(x, x), "rise"),
        (lambda x: np.add.reduceat(x, np.array([0, 20])), "out of range"),
        (lambda x: np.nanargmax(x * np.nan), "All-NaN"),
        (lambda x: np.unravel_index(np.array([0, 20]), x.shape), "out of bounds"),
        (lambda x: np.ravel_multi_index((np.array([-1]),), x.shape), "out of bounds"),
        (lambda x: np.choose(np.array([0, 2]), [x[:2], x[2:4]]) + 0.0 * x[0], "no such choice"),
        (lambda x: np.polyfit(x[:3], x[3:6], 2, cov=True), "more data than 3"),
        (lambda x: np.polyfit(x * 0.0, x, 2, cov=True), "no covariance"),
        (lambda x: np.histogram(x * np.inf, 3), "not finite"),
        (lambda x: np.histogram2d(x, x * np.nan, 3), "not finite"),
        (lambda x: np.geomspace(x[0] * 0.0, 1.0), "zero"),
        (lambda x: np.add.at(x.copy(), np.array([99]), 1.0), "out of range"),
    ],
)
def test_run_time_refusals(program, words: str) -> None:
    with pytest.raises((ValueError, IndexError), match=words) as caught:
        ad.jit(program)(np.abs(LONG) * np.array([1.0, -1.0] * 10) + 5.0 * (np.arange(20) % 3))
    assert isinstance(caught.value, ad.AnadromeError)


@pytest.mark.parametrize("size", [1, 2, 5, 16, 17, 40])
def test_lengths_take_the_sign_of_the_first_element_along(size: int) -> None:
    x = np.linspace(-3.0, 2.0, size)
    table = np.stack([x, -x, np.ones(size)])
    for program, argument in (
        (lambda x: np.hypot.accumulate(x), x),
        (lambda x: np.hypot.accumulate(x), table),
        (lambda x: np.hypot.accumulate(x, axis=1), table),
        (lambda x: np.hypot.reduce(x), x),
        (lambda x: np.hypot.reduce(x[:1]), table),
        (lambda x: np.hypot.reduce(x, axis=1), table),
    ):
        assert_same(ad.jit(program)(argument), program(argument))
    lengths = np.hypot.accumulate(x)
    wanted = np.tril(x / np.abs(lengths)[:, None])
    wanted[0, 0] = 1.0
    for jacobian in (ad.jacfwd, ad.jacrev):
        found = jacobian(lambda x: np.hypot.accumulate(x))(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
        found = jacobian(lambda x: np.hypot.reduce(x))(x)
        np.testing.assert_allclose(found, x / np.abs(lengths[-1]), rtol=1e-12, atol=1e-15)


def test_methods_of_universal_functions_have_cases() -> None:
    rows = keys_of(SELECTIONS) | keys_of(VALUES) | keys_of(EDITING)
    seen = {method.__name__ for method in rows if method in UFUNC_METHODS}
    assert seen == {"at", "reduce", "accumulate", "outer", "reduceat"}
