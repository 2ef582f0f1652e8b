"""`det`: {A, ell}, A flat by rows, to the determinant and its gradient, flat as well."""

from __future__ import annotations

from typing import Any

import det
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import floats, number, numbers


def prepare(data: Any) -> tuple[np.ndarray]:
    size = int(data["ell"])
    return (floats(data["A"]).reshape(size, size),)


def present_gradient(gradient: np.ndarray) -> list[float]:
    flat: list[float] = numbers(np.ravel(gradient))
    return flat


FUNCTIONS = {
    "primal": Function(prepare, det.determinant, number),
    "gradient": Function(prepare, det.gradient, present_gradient),
}
