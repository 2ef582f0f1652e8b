"""Programs of the corpus with every parfor in lanes that can be; values and derivatives as `test_corpus`
checks them."""

from __future__ import annotations

import pytest

from tests.corpus.harness import Case, Program, check_first_order, check_second_order
from tests.corpus.test_corpus import PROGRAMS
from tests.lanes_everywhere import lanes_everywhere

EVERY = 12
"""One program of so many is looked at in each run of the tests."""
SAMPLE = [
    pytest.param(program, id=name, marks=() if place % EVERY == 0 else pytest.mark.slow)
    for place, (name, program) in enumerate(PROGRAMS.items())
]


@pytest.mark.parametrize("program", SAMPLE)
def test_derivatives(program: Program) -> None:
    with lanes_everywhere():
        case = Case(program)
        check_first_order(case)
        check_second_order(case)
