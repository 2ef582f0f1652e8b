"""`particle`: {w} to the control that is best, by each nesting of forward and reverse mode."""

from __future__ import annotations

from typing import Any

import particle

from gradbench_tool.function import Function
from gradbench_tool.values import number


def prepare(data: Any) -> tuple[float]:
    return (float(data["w"]),)


FUNCTIONS = {
    "ff": Function(prepare, particle.ff, number),
    "fr": Function(prepare, particle.fr, number),
    "rf": Function(prepare, particle.rf, number),
    "rr": Function(prepare, particle.rr, number),
}
