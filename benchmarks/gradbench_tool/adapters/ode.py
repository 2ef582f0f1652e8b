"""`ode`: {x, s} to the solution at the end, and the gradient of its last component by x."""

from __future__ import annotations

from typing import Any

import numpy as np
import ode

from gradbench_tool.function import Function
from gradbench_tool.values import floats, numbers


def prepare(data: Any) -> tuple[np.ndarray, int]:
    return floats(data["x"]), int(data["s"])


FUNCTIONS = {
    "primal": Function(prepare, ode.solve, numbers),
    "gradient": Function(prepare, ode.gradient, numbers),
}
