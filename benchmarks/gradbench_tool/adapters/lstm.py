"""`lstm`: {main_params, extra_params, state, sequence} to the loss, and its gradient by the parameters.

Row 2i of main_params holds the weights of layer i, row 2i + 1 its biases, four gates one after the other;
the rows of state are hidden values and cells in turn. The gradient is flat: the main parameters by rows, then
the extra ones.
"""

from __future__ import annotations

from typing import Any

import lstm
import numpy as np

from gradbench_tool.function import Function
from gradbench_tool.values import floats, number, numbers


def prepare(data: Any) -> tuple[np.ndarray, ...]:
    state, sequence = floats(data["state"]), floats(data["sequence"])
    layers, bits = len(state) // 2, state.shape[1]
    weights = floats(data["main_params"]).reshape(layers, 2, 4, bits)
    return weights, floats(data["extra_params"]), state.reshape(layers, 2, bits), sequence


def present_gradient(gradient: tuple[np.ndarray, ...]) -> list[float]:
    flat: list[float] = numbers(np.concatenate([np.ravel(part) for part in gradient]))
    return flat


FUNCTIONS = {
    "objective": Function(prepare, lstm.objective, number),
    "jacobian": Function(prepare, lstm.gradient, present_gradient),
}
