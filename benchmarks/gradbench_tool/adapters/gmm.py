"""`gmm`: {d, k, n, alpha, mu, q, l, x, gamma, m} to the log posterior, and its gradient as {alpha, mu, q, l}.

Each row of l is the strictly lower triangle packed column by column.
"""

from __future__ import annotations

from typing import Any

import gmm
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import floats, number, numbers

INDEPENDENT = ("alpha", "mu", "q", "l")


def prepare(data: Any) -> tuple[Any, ...]:
    d, k, n = int(data["d"]), int(data["k"]), int(data["n"])
    shapes = ((k,), (k, d), (k, d), (k, d * (d - 1) // 2), (n, d))
    names = (*INDEPENDENT, "x")
    arrays = [floats(data[name]).reshape(shape) for name, shape in zip(names, shapes, strict=True)]
    return (*arrays, float(data["gamma"]), int(data["m"]))


def present_gradient(gradient: tuple[np.ndarray, ...]) -> dict[str, Any]:
    return {name: numbers(part) for name, part in zip(INDEPENDENT, gradient, strict=True)}


FUNCTIONS = {
    "objective": Function(prepare, gmm.log_posterior, number),
    "jacobian": Function(prepare, gmm.gradient, present_gradient),
}
