"""Derivatives of the programs by hand whose values `tests/meaning` compares with plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from tests.derivatives.agreement import agree
from tests.meaning.cases import classes, growth, optional, steppers, walrus

POINTS = np.linspace(1.1, 9.3, 20) + np.random.default_rng(5).uniform(0.0, 0.1, 20)

PROGRAMS = [program for family in (walrus, optional, classes, steppers, growth) for program in family.RIGHT]
WITHOUT_FLOATS = {"in_any", "counts_of_whole_numbers"}


@pytest.mark.parametrize(
    "program",
    [program for program in PROGRAMS if program.__name__ not in WITHOUT_FLOATS],
    ids=lambda program: program.__name__,
)
@pytest.mark.parametrize("size", [4, 20])
def test_both_modes_agree_with_differences(program, size) -> None:
    agree(program, POINTS[:: 20 // size], size)
