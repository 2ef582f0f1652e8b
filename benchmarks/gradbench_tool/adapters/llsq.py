"""`llsq`: {x, n} to the least-squares objective and its gradient by x."""

from __future__ import annotations

from typing import Any

import llsq
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import floats, number, numbers


def prepare(data: Any) -> tuple[np.ndarray, int]:
    return floats(data["x"]), int(data["n"])


FUNCTIONS = {
    "primal": Function(prepare, llsq.objective, number),
    "gradient": Function(prepare, llsq.gradient, numbers),
}
