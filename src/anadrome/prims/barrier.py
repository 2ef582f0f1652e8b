"""Rows that are the value itself, with a derivative of their own.

`stop_gradient v` has a derivative of zero. `linked v x p` has the derivative p with respect to x, and that of
v: what mixed mode ties a value to the partials that dual numbers gave with, and `ad.folds.extrema` an
extremum to the value at its place.

`whole v` is v, a number that must be whole, as a count: differentiating by it is refused.

`optimization_barrier v` is v with the derivative of v, and no pass takes it for v: what a checkpoint runs for
a second time begins with it, so that it is not found in the first run and kept from there on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.prims import facts
from anadrome.prims.record import Algebra, Prim
from anadrome.prims.types import FLOATS, same


def _itself(algebra: Algebra[Any], args: tuple[Any, ...]) -> Any:
    return args[0]


def _first(value: Any, *_: Any) -> Any:
    return np.positive(value)


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
    Prim(
        "linked",
        3,
        same(FLOATS),
        _first,
        partials=lambda b, args, out: (b.constant(1.0, out), args[2], None),
        expansion=_itself,
        cost=0,
    ),
    Prim(
        "whole",
        1,
        same(FLOATS),
        np.positive,
        partials=lambda b, args, out: (None,),
        without_derivative={0: "k"},
        expansion=_itself,
        facts=facts.PROJECTION,
        cost=0,
        symbol="a probability of whole numbers",
    ),
    Prim(
        "optimization_barrier",
        1,
        same(FLOATS),
        np.positive,
        partials=lambda b, args, out: (b.constant(1.0, out),),
        expansion=_itself,
        cost=0,
    ),
)
