"""`ba`: {n, m, p, cam, x, w, feat} to the residuals and their Jacobian.

The one camera, point, weight and feature are repeated n, m, p and p times, and all p observations are
computed. Since they are all alike, only a sample is sent back: the first residuals with how often they are
repeated; and of row starts, columns and values of the Jacobian the first thirty elements and the last.
"""

from __future__ import annotations

from typing import Any

import ba
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import finite

SENT = 2 * ba.PER_ROW


def present_residuals(residuals: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
    reprojection, weight = (finite(part) for part in residuals)
    return {
        "reproj_error": {"elements": reprojection[0].tolist(), "repeated": len(reprojection)},
        "w_err": {"element": weight[0].item(), "repeated": len(weight)},
    }


def present_jacobian(jacobian: tuple[np.ndarray, np.ndarray, np.ndarray]) -> dict[str, Any]:
    rows, columns, values = jacobian
    return {"rows": sample(rows), "cols": sample(columns), "vals": sample(finite(values))}


def sample(array: np.ndarray) -> list[Any]:
    """The first thirty elements and the last."""
    return [*array[:SENT].tolist(), array[-1].item()]


FUNCTIONS = {
    "objective": Function(ba.replicate, ba.residuals, present_residuals),
    "jacobian": Function(ba.replicate, ba.jacobian, present_jacobian),
}
