"""Derivatives of the programs by hand whose values `tests/meaning` compares with plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import BranchesDiffer, MayBeNone
from tests.derivatives.agreement import agree
from tests.meaning.cases import (
    changed_items,
    changed_parts,
    classes,
    growth,
    lazily,
    meeting,
    optional,
    ordered,
    returns,
    sizes,
    states,
    steppers,
    walrus,
)

POINTS = np.linspace(1.1, 9.3, 20) + np.random.default_rng(5).uniform(0.0, 0.1, 20)

FAMILIES = (
    walrus,
    meeting,
    optional,
    ordered,
    classes,
    steppers,
    growth,
    changed_items,
    changed_parts,
    returns,
    lazily,
    states,
)
PROGRAMS = [program for family in FAMILIES for program in family.RIGHT]
PROGRAMS += sizes.JOINED
WITHOUT_FLOATS = {"in_any", "counts_of_whole_numbers"}
OF_NO_ONE_TYPE = {
    *("returned", "falls_off_its_end", "returned_in_a_container", "a_truth_or_a_number"),
    *("a_comparison_that_is_added_to", "one_of_several_types"),
}
"""Programs whose result is None or of another type on some ways: it has no derivative."""


@pytest.mark.parametrize(
    "program",
    [program for program in PROGRAMS if program.__name__ not in WITHOUT_FLOATS | OF_NO_ONE_TYPE],
    ids=lambda program: program.__name__,
)
@pytest.mark.parametrize("size", [4, 20])
def test_both_modes_agree_with_differences(program, size) -> None:
    agree(program, POINTS[:: 20 // size], size)


@pytest.mark.parametrize("name", sorted(OF_NO_ONE_TYPE))
@pytest.mark.parametrize("mode", [ad.grad, ad.jacfwd, ad.jacrev])
def test_what_has_no_one_type_is_refused(name, mode) -> None:
    program = next(one for one in PROGRAMS if one.__name__ == name)
    with pytest.raises((MayBeNone, BranchesDiffer), match="a result that a transform takes"):
        mode(lambda x, n: program(x, n))(POINTS, 20)
