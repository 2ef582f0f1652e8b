"""`hello`: square and double of a bare number; no number of runs is asked for."""

from __future__ import annotations

from typing import Any

import hello

from gradbench_tool.function import Function
from gradbench_tool.values import number


def prepare(data: Any) -> tuple[float]:
    return (float(data),)


FUNCTIONS = {
    "square": Function(prepare, hello.square, number),
    "double": Function(prepare, hello.double, number),
}
