"""What `ad.explain` predicts of the gradient of every program of the corpus is what a call is seen to hold.

Where the sizes decide, the prediction is within 10 % of the bytes counted; where the data do, these are
between its least and its largest value.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

import anadrome as ad
from tests.corpus.derived import Derived
from tests.corpus.harness import SYMBOLIC, Program, quiet
from tests.corpus.test_corpus import PROGRAMS

CONFIG = replace(SYMBOLIC, verify=False)
EVERY = 25
"""One program of so many is looked at in each run of the tests."""
SAMPLE = [
    pytest.param(program, id=name, marks=() if place % EVERY == 0 else pytest.mark.slow)
    for place, (name, program) in enumerate(PROGRAMS.items())
]


@pytest.mark.parametrize("program", SAMPLE)
def test_a_gradient_holds_what_is_predicted(program: Program) -> None:
    for size in (program.sizes[0], program.sizes[-1]):
        args = program.draw(size)
        with quiet():
            weights = program.function(*copy.deepcopy(args))
            pulled = ad.jit(Derived(program.function, program.places(args)).pulled, config=CONFIG)
            found = ad.explain(pulled, args, weights, measure=True)
        assert found.measured is not None
        if found.is_exact:
            assert abs(found.predicted - found.measured) <= 0.1 * found.measured, str(found)
        else:
            assert found.least <= found.measured, str(found)
            assert not found.is_bounded or found.measured <= found.predicted, str(found)
