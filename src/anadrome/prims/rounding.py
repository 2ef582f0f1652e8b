"""Rows that round a float to a whole one; their derivative is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.prims import facts
from anadrome.prims.record import Prim
from anadrome.prims.types import FLOATS, same


def _row(name: str, numpy: Any, intrinsic: str, words: frozenset[str] = facts.PROJECTION) -> Prim:
    return Prim(
        name,
        1,
        same(FLOATS),
        numpy,
        zero_derivative=True,
        intrinsic=intrinsic,
        facts=words,
        symbol=f"np.{name}",
    )


ROWS = (
    _row("floor", np.floor, "floor"),
    _row("ceil", np.ceil, "ceil"),
    _row("round", np.rint, "roundeven", facts.ODD_PROJECTION),
    _row("trunc", np.trunc, "trunc", facts.ODD_PROJECTION),
)
