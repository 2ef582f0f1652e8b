"""Sorting."""

from __future__ import annotations

import math

import numpy as np

from anadrome.dtypes import ALL
from anadrome.library.record import Array, LibraryOperation, signature
from anadrome.library.samples import drawn


def _argsort(values: Array) -> Array:
    return np.argsort(values, kind="stable").astype(np.int64)


ROWS = (
    LibraryOperation(
        "argsort",
        signature("values[n] -> places[n]:i64"),
        numpy=_argsort,
        work=lambda n: n * max(1.0, math.log2(max(1, n))),
        sample=lambda random: (drawn(random, 6),),
        types=ALL,
    ),
)
"""The positions of the values in ascending order; stable, NaNs last."""
