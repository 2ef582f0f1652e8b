"""Python numbers that a run-time loop carries, and what is done where an iteration changes their type.

`total = 0` before a loop that adds floats is the number 0.0: after a loop that runs zero times Python would
print another type, and the same number. So the loop is staged once more with the float, where

* the start is a whole number known while compiling that a float64 holds exactly, or a number that an outer
  loop carries from such a start, which is then staged once more itself;
* the body stages with the float: as an index, say, it does not, and then the change of type is refused.
"""

from __future__ import annotations

import numpy as np

from anadrome.array_ir.nodes import Var
from anadrome.dtypes import BOOL, F64, I64
from anadrome.errors.frontend import FrontendError
from anadrome.frontend.context import Context
from anadrome.frontend.restarts import RetypeLoop
from anadrome.frontend.values import Array, Complex, Place, Scalar, Scope, Value

Key = tuple[Place, int]
"""A carried name or part, and which of its leaves."""

AxisKey = tuple[Place, int, int]
"""A dimension of a carried leaf."""

EXACT = 2**53
"""Whole numbers up to here are float64s."""


def follow_start(context: Context, var: Var, scope: Scope, key: Key, start: Value) -> None:
    """Remember a carried whole number that may become a float, and the outermost loop that carries it."""
    if var.type.dtype is not I64:
        return
    if isinstance(start, int) and not isinstance(start, bool) and abs(start) <= EXACT:
        context.whole_starts[var] = (scope, key)
    elif isinstance(start, Scalar) and isinstance(start.atom, Var) and start.atom in context.whole_starts:
        context.whole_starts[var] = context.whole_starts[start.atom]


def becomes_float(context: Context, var: Var, scope: Scope, key: Key, error: FrontendError) -> None:
    """Stage the loop that the number comes from once more, with a float; else the error of the change."""
    found = context.whole_starts.get(var)
    if found is None:
        raise error
    raise RetypeLoop(*found, F64, is_weak=True, instead=error if found == (scope, key) else None)


def arrays_of(value: Value) -> list[Array]:
    """The array that a name stands for; of a complex one its parts."""
    parts = (value.real, value.imag) if isinstance(value, Complex) else (value,)
    return [part for part in parts if isinstance(part, Array)]


def list_depth(value: Value) -> int:
    """How many leading dimensions of a value Python knows as a list."""
    return value.list_depth if isinstance(value, Array | Complex) else 0


def is_python_number(value: Value) -> bool:
    """Whether a value is a real Python number, which may stand for a complex one."""
    if isinstance(value, Scalar):
        return bool(value.is_weak) and value.dtype is not BOOL
    return isinstance(value, int | float) and not isinstance(value, bool | np.generic)
