"""Programs of the corpus, and their pullbacks, give the same when their arguments are given away."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.api.pytree import flatten
from anadrome.errors import AnadromeError
from tests.corpus.harness import CONSTANT
from tests.corpus.test_corpus import PROGRAMS

CONFIG = ad.Config(threads=1, small_dimension=CONSTANT)
SIZE = 30
"""Strips of vectors and a rest."""


def agree(function: Any, args: tuple[Any, ...], expected: Any) -> None:
    """Assert that a function that is given its arguments gives what it gives without."""
    donating = ad.jit(function, config=CONFIG, donate_argnums=range(len(args)))
    found = donating(*copy.deepcopy(args))
    for one, other in zip(flatten(found)[0], flatten(expected)[0], strict=True):
        largest = (
            np.max(np.abs(np.nan_to_num(other)), initial=1.0) if np.asarray(other).dtype.kind == "f" else 0
        )
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11 * largest)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_pullbacks(name: str) -> None:
    program = PROGRAMS[name]
    args = program.draw(max(program.at, SIZE))

    def pulled_back(*args):
        result, pullback = ad.vjp(program.function, *args)
        return result, pullback(result)

    for function in (program.function, pulled_back):
        compiled = ad.jit(function, config=CONFIG)
        try:
            expected = compiled(*copy.deepcopy(args))
        except AnadromeError:  # not of this size; no floats, or a derivative that there is not
            continue
        agree(function, args, expected)
