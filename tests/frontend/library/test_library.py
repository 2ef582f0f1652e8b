"""Every row of the library gives what NumPy gives: values, scalar types, shapes; sizes known or symbolic."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.frontend.complex_numbers import cosine, fourier
from anadrome.frontend.library import CALLS, METHODS, sparse
from tests.derivatives.selection_rows import SELECTIONS, VALUES
from tests.frontend.library import (
    algebra_cases,
    array_cases,
    distribution_cases,
    editing_cases,
    elementwise_cases,
    fourier_cases,
    index_cases,
    python_cases,
    reduction_cases,
    special_cases,
    spline_cases,
    writing_cases,
)
from tests.frontend.library.staging import Case, assert_like_numpy, case

REFUSED_METHODS = {"put", "resize"}
LINE = np.random.default_rng(3).normal(size=6)
SELECTION_CASES = [case(keys, function, LINE) for keys, function in (*SELECTIONS, *VALUES) if keys != ()]
FAMILIES = {
    "elementwise": elementwise_cases.CASES,
    "mathematics": elementwise_cases.MATH_CASES,
    "reductions": reduction_cases.CASES,
    "algebra": algebra_cases.CASES,
    "arrays": array_cases.CASES,
    "selections": SELECTION_CASES,
    "fourier": fourier_cases.CASES,
    "indices": index_cases.CASES,
    "special": special_cases.CASES,
    "distributions": distribution_cases.CASES,
    "splines": spline_cases.LARGE,
    "writing": writing_cases.CASES,
    "editing": editing_cases.CASES,
    "python": python_cases.CASES,
}
ALL_CASES = [one for cases in FAMILIES.values() for one in cases]


@pytest.mark.parametrize("one", [*ALL_CASES, distribution_cases.SHORT, *spline_cases.SMALL], ids=repr)
def test_constant_sizes(one: Case) -> None:
    assert_like_numpy(one, is_symbolic=False)


@pytest.mark.parametrize("one", [one for one in ALL_CASES if not one.needs_sizes], ids=repr)
def test_symbolic_sizes(one: Case) -> None:
    assert_like_numpy(one, is_symbolic=True)


def test_every_row_has_a_case() -> None:
    exercised = {key for one in ALL_CASES for key in one.keys}
    exercised |= set(sparse.CALLS)  # tests/frontend/test_sparse_matrices.py calls these
    missing = [function for function in (*CALLS, *fourier.CALLS, *cosine.CALLS) if function not in exercised]
    names = {
        f"np.{'linalg.' if 'linalg' in function.__module__ else ''}{function.__name__}"
        for function in missing
    }
    assert not names
    assert {name for name in METHODS if name not in exercised} == REFUSED_METHODS
