"""Programs of the corpus with every parfor in lanes that can be: few lanes and small blocks, so that a few
elements fill some and leave a rest; values and derivatives as `test_corpus` checks them."""

from __future__ import annotations

import pytest

from anadrome import compile as pipeline
from anadrome.passes import blocks, outer_lanes
from anadrome.schedule import outer
from tests.corpus.harness import Case, Program, check_first_order, check_second_order
from tests.corpus.test_corpus import PROGRAMS

EVERY = 12
"""One program of so many is looked at in each run of the tests."""
SAMPLE = [
    pytest.param(program, id=name, marks=() if place % EVERY == 0 else pytest.mark.slow)
    for place, (name, program) in enumerate(PROGRAMS.items())
]


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes pay everywhere: two of them in a strip, blocks of three."""
    monkeypatch.setattr(outer_lanes, "LEAST_LOOPS", 1)
    monkeypatch.setattr(outer_lanes, "UNROLLED", 0)
    monkeypatch.setattr(outer_lanes, "READ_AGAIN", 0)
    monkeypatch.setattr(blocks, "BLOCK", 3)
    monkeypatch.setattr(outer, "VECTORS", 1)
    monkeypatch.setattr(outer, "SHORT_VECTORS", 1)
    monkeypatch.setattr(pipeline, "vector_bits", lambda _: 128)


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize("program", SAMPLE)
def test_derivatives(program: Program) -> None:
    case = Case(program)
    check_first_order(case)
    check_second_order(case)
