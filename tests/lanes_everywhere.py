"""Lanes of outer loops wherever they can be, whether they pay or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from anadrome import compile as pipeline
from anadrome.passes import blocks, outer_lanes
from anadrome.schedule import outer

BITS = 128


@contextmanager
def lanes_everywhere() -> Iterator[None]:
    """Every parfor that can is in lanes, two in a strip and three iterations in a block, so that a few
    elements fill some and leave a rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outer_lanes, "LEAST_LOOPS", 1)
        patch.setattr(outer_lanes, "UNROLLED", 0)
        patch.setattr(outer_lanes, "READ_AGAIN", 0)
        patch.setattr(blocks, "BLOCK", 3)
        patch.setattr(outer, "VECTORS", 1)
        patch.setattr(outer, "SHORT_VECTORS", 1)
        patch.setattr(pipeline, "vector_bits", lambda _: BITS)
        yield
