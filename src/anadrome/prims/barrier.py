"""The row that differentiation does not pass: the value itself, with a derivative of zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Prim
from anadrome.prims.types import FLOATS, same


def _itself(algebra: Algebra[Any], args: tuple[Any, ...]) -> Any:
    return args[0]


ROWS = (
    Prim(
        "stop_gradient",
        1,
        same(FLOATS),
        np.positive,
        zero_derivative=True,
        expansion=_itself,
        facts=facts.PROJECTION,
        cost=0,
        symbol="ad.stop_gradient",
    ),
)
