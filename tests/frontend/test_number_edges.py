"""What numbers do at their edges, as docs/python.md says."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import frontend


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (lambda x, y: x / y, (1.0, 0.0), np.inf),
        (lambda x, y: x / y, (-1.0, 0.0), -np.inf),
        (lambda x, y: x / y, (0.0, 0.0), np.nan),
        (lambda x, y: x / y, (5, 0), np.inf),
        (lambda x, y: x // y, (5, 0), 0),
        (lambda x, y: x % y, (5, 0), 0),
        (lambda k: k * k, (2**40,), 0),
        (lambda k: k + 1, (2**63 - 1,), -(2**63)),
        (lambda x: x * 2.0**70, (1,), 2.0**70),
        (lambda x: math.log(x), (-1.0,), np.nan),
        (lambda x: math.log(x), (0.0,), -np.inf),
        (lambda x: math.sqrt(x), (-1.0,), np.nan),
        (lambda x: math.asin(x), (2.0,), np.nan),
        (lambda x: math.exp(x), (1000.0,), np.inf),
    ],
)
def test_runs_on_as_numpy_does(function, args, expected) -> None:
    np.testing.assert_equal(ad.jit(function)(*args), expected)


def test_a_constant_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(frontend.NumberTooLarge):
        ad.jit(lambda x: x + 2**70)(1)


@pytest.mark.parametrize("places", range(8))
def test_rounding_is_that_of_python(places: int) -> None:
    compiled = ad.jit(lambda x: round(x, places))
    source = random.Random(places)
    halves = 5 * 10.0 ** -(places + 1)
    for _ in range(200):
        for x in (
            source.uniform(-10, 10),
            source.randrange(-(10**6), 10**6) / 10 ** source.randrange(1, 7) + halves,
            source.uniform(-1e9, 1e9),
            source.uniform(1e15, 9e15) / 10**places,
            source.randrange(-9999, 9999) + 0.5,
        ):
            assert compiled(x) == round(x, places), x
