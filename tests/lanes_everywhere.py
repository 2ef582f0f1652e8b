"""Lanes wherever they can be, whether they pay or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from anadrome import compile as pipeline
from anadrome.kernel_ir.affine import Bindings
from anadrome.kernel_ir.nodes import For
from anadrome.passes import blocks, outer_lanes
from anadrome.schedule import outer, parts, search
from anadrome.schedule.apart import InOrder, Iterations, iterations_of
from anadrome.schedule.cpu import schedule_cpu
from anadrome.schedule.innermost import Strips
from anadrome.schedule.loops import Way, choose
from anadrome.schedule.running import Groups

BITS = 128


def eager(loop: For, bindings: Bindings, vector_bits: int) -> Way:
    """The usual way of a loop, but lanes where they would not pay; the rest is masked for every other one."""
    way = choose(loop, bindings, vector_bits)
    found = iterations_of(loop, bindings) if isinstance(way, InOrder | Groups) else None
    if not isinstance(found, Iterations):
        return way
    is_masked = len(loop.body) % 2 == 0
    return Strips(loop, 2, 1, found.sums, is_masked=is_masked, is_single=False, added=found.added)


@contextmanager
def lanes_everywhere() -> Iterator[None]:
    """Every loop that can is in lanes, two in a strip and three iterations in a block, and what can run ahead
    of a loop in order does, so that a few elements fill some and leave a rest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outer_lanes, "LEAST_LOOPS", 1)
        patch.setattr(outer_lanes, "UNROLLED", 0)
        patch.setattr(outer_lanes, "READ_AGAIN", 0)
        patch.setattr(blocks, "BLOCK", 3)
        patch.setattr(parts, "BLOCK", 3)
        patch.setattr(search, "BLOCK", 3)
        patch.setattr(parts, "DEAR", 1)
        patch.setattr(parts, "SHARE", 100)
        patch.setattr(outer, "VECTORS", 1)
        patch.setattr(outer, "SHORT_VECTORS", 1)
        patch.setattr(pipeline, "vector_bits", lambda _: BITS)
        patch.setattr(pipeline, "schedule_cpu", partial(schedule_cpu, chooser=eager))
        yield
