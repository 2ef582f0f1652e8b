"""`saddle`: {start} to the saddle point [x, y], by each nesting of forward and reverse mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import saddle

from gradbench_tool.function import Function
from gradbench_tool.values import floats, numbers


def prepare(data: Any) -> tuple[np.ndarray]:
    return (floats(data["start"]),)


FUNCTIONS = {
    "ff": Function(prepare, saddle.ff, numbers),
    "fr": Function(prepare, saddle.fr, numbers),
    "rf": Function(prepare, saddle.rf, numbers),
    "rr": Function(prepare, saddle.rr, numbers),
}
