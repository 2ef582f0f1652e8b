"""The programs whose compilation is measured: the gallery, some of the table, and those of `compile/`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from compile import adaptive, bodies, network, optics, statements, table

from bench.cases import GALLERY, TABLE, Case

Call = Callable[[], Any]


def of_case(case: Case) -> Callable[[], Call]:
    """What makes the call of the derivative of a case."""

    def make() -> Call:
        arguments = case.arguments(False)
        return lambda: case.derivative(*arguments)

    return make


def of_module(derivative: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]]) -> Callable[[], Call]:
    """What makes the call of a derivative."""

    def make() -> Call:
        drawn = arguments()
        return lambda: derivative(*drawn)

    return make


def of_statements(
    make: Callable[[int], Callable[..., Any]], count: int, *arguments: Any
) -> Callable[[], Call]:
    """What makes the call of a derivative of `count` statements."""
    return lambda: (lambda derivative: lambda: derivative(*arguments))(make(count))


PLACES, ARRAY = np.linspace(0.1, 0.3, 3), np.linspace(0.1, 0.5, 100)

SMALL = (
    "gmm10_25",
    "gmm2_200_10k",
    "lstm2",
    "hm_lstm",
    "kmeans",
    "map",
    "histogram",
    "gather",
    "ba1",
    "hand5",
)
"""Programs of the table that belong to the gallery."""

PROGRAMS: dict[str, Callable[[], Call]] = {
    **{case.name: of_case(case) for case in (*GALLERY, *TABLE) if case in GALLERY or case.name in SMALL},
    **{
        case.name: of_case(case)
        for case in TABLE
        if case.name in ("waves", "forces", "convolution", "process")
    },
    "optics": of_module(optics.gradient, optics.arguments),
    "optics_hessian": of_module(optics.hessian, optics.arguments),
    "network": of_module(network.gradient, network.arguments),
    "adaptive": of_module(adaptive.gradient, adaptive.arguments),
    "adaptive_hessian": of_module(adaptive.hessian, adaptive.arguments),
    "bodies": of_module(bodies.gradient, bodies.arguments),
    "table_third": of_module(table.third, table.arguments),
    "numbers_1000": of_statements(statements.of_numbers, 1000, PLACES),
    "arrays_50": of_statements(statements.of_arrays, 50, ARRAY, ARRAY),
}
"""What makes the call that compiles, by name."""

LONG: dict[str, Callable[[], Call]] = {
    "numbers_3000": of_statements(statements.of_numbers, 3000, PLACES),
    "arrays_100": of_statements(statements.of_arrays, 100, ARRAY, ARRAY),
}
"""Programs that take minutes, only measured by name."""
