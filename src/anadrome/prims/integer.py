"""Rows that only integers have, and integer powers.

`truncdiv` is the machine's division: its divisor is not 0 in a program a user wrote, because the rows a
user reaches (`floordiv`, `mod`, `fmod`) look at the divisor first. A target still may not trap on it: the
operation runs also where a select throws its result away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anadrome.prims import facts
from anadrome.prims.record import Prim
from anadrome.prims.types import INTEGERS, same


def truncated_quotient(x: Any, y: Any) -> Any:
    """The quotient rounded towards zero; 0 where y = 0, and the smallest integer over -1 is itself."""
    quotient = np.floor_divide(x, y)
    remainder = x - quotient * y
    one = np.asarray(x).dtype.type(1)
    is_low = (remainder != 0) & (y != 0) & ((x < 0) != (y < 0))
    return np.where(is_low, quotient + one, quotient)[()]


_SHIFT = ((0.0, 100.0), (0.0, 8.0))

ROWS = (
    Prim("truncdiv", 2, same(INTEGERS), truncated_quotient, zero_derivative=True, symbol="//"),
    Prim("bitand", 2, same(INTEGERS), np.bitwise_and, zero_derivative=True, facts=facts.LATTICE, symbol="&"),
    Prim("bitor", 2, same(INTEGERS), np.bitwise_or, zero_derivative=True, facts=facts.LATTICE, symbol="|"),
    Prim(
        "bitxor", 2, same(INTEGERS), np.bitwise_xor, zero_derivative=True, facts=facts.SEMIGROUP, symbol="^"
    ),
    Prim("bitnot", 1, same(INTEGERS), np.invert, zero_derivative=True, facts=facts.INVOLUTION, symbol="~"),
    Prim("shl", 2, same(INTEGERS), np.left_shift, zero_derivative=True, sample=_SHIFT, symbol="<<"),
    Prim("shr", 2, same(INTEGERS), np.right_shift, zero_derivative=True, sample=_SHIFT, symbol=">>"),
)
