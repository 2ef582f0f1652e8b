"""`ht`: {theta, us, data: {model, correspondences, points}} to residuals, flat, and rows of their Jacobian.

With `us` the correspondences are triangles, and a row has 2 + 26 elements; without, they are vertices, and it
has 26.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ht
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import floats, numbers


def prepare(data: Any) -> tuple[Any, ...]:
    us = floats(data["us"])
    fitted = data["data"]
    points = floats(fitted["points"])
    correspondences = np.array(fitted["correspondences"], dtype=np.int64)
    rest = (ht.hand_model(fitted["model"]), correspondences, points)
    theta = floats(data["theta"])
    return (theta, us.reshape(len(points), 2), *rest) if us.size else (theta, *rest)


def one_of(with_us: Callable[..., Any], without_us: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the arguments made above, whichever they are."""
    return lambda *arguments: (with_us if len(arguments) == 5 else without_us)(*arguments)


def present_residuals(residuals: np.ndarray) -> list[float]:
    flat: list[float] = numbers(np.ravel(residuals))
    return flat


FUNCTIONS = {
    "objective": Function(prepare, one_of(ht.residuals, ht.vertex_residuals), present_residuals),
    "jacobian": Function(prepare, one_of(ht.jacobian, ht.vertex_jacobian), numbers),
}
