"""`kmeans`: {points, centroids} to the cost, and to gradient / diagonal of the Hessian by the centroids."""

from __future__ import annotations

from typing import Any

import kmeans
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import floats, number, numbers


def prepare(data: Any) -> tuple[np.ndarray, np.ndarray]:
    return floats(data["points"]), floats(data["centroids"])


FUNCTIONS = {
    "cost": Function(prepare, kmeans.cost, number),
    "dir": Function(prepare, kmeans.direction, numbers),
}
