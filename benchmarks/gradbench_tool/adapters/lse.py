"""`lse`: {x} to LogSumExp and its gradient."""

from __future__ import annotations

from typing import Any

import lse
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import floats, number, numbers


def prepare(data: Any) -> tuple[np.ndarray]:
    return (floats(data["x"]),)


FUNCTIONS = {
    "primal": Function(prepare, lse.logsumexp, number),
    "gradient": Function(prepare, lse.gradient, numbers),
}
