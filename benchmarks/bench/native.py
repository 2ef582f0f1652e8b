"""Calls of the C of `benchmarks/c/`: for each program a function of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ht
import numpy as np

from bench.c_code import bound, library

Call = Callable[[], Any]


@dataclass(frozen=True)
class Native:
    """Calls with arguments in place: an objective in C, its gradient derived by hand, which gives the value
    too, and the same objective compiled without vectors, where there are such."""

    objective: Call
    gradient: Call | None = None
    scalar: Call | None = None


def both_forms(name: str, entry: str, inputs: tuple[Any, ...], **results: Any) -> Native:
    """An objective, with vectors and without."""
    calls = [
        bound(library(name, is_scalar=is_scalar)[entry], inputs, **results) for is_scalar in (False, True)
    ]
    return Native(calls[0], scalar=calls[1])


def _real(array: np.ndarray) -> str:
    return "float" if array.dtype == np.float32 else "double"


# ---------------------------------------------------------------------------- programs of ADBench
def of_mixture(
    alpha: np.ndarray, mu: np.ndarray, q: np.ndarray, lower: np.ndarray, x: np.ndarray, gamma: float, m: int
) -> Native:
    components, dimension = mu.shape
    scratch = (np.empty(size) for size in (components * dimension**2, components, components, dimension))
    arrays = (np.ascontiguousarray(array) for array in (alpha, mu, q, lower, x))
    inputs = (dimension, components, len(x), *arrays, float(gamma), m, *scratch)
    return Native(bound(library("gmm").gmm_log_posterior, inputs))


def of_scene(*arguments: np.ndarray) -> Native:
    count = len(arguments[-1])
    results = np.empty((count, 2)), np.empty(count)
    inputs = (count, *(np.ascontiguousarray(array) for array in arguments))
    return both_forms("ba", "ba_objective", inputs, results=results, has_value=False)


def of_hand(
    theta: np.ndarray, model: ht.HandModel, correspondences: np.ndarray, points: np.ndarray
) -> Native:
    bones, vertices = len(model.parents), len(model.base_positions)
    scratch = (np.empty(size) for size in (16 * bones, 12 * bones, 3 * vertices))
    skeleton = (model.parents, model.base_relatives, model.inverse_base_absolutes)
    skin = (model.base_positions, model.weights, -1.0 if model.is_mirrored else 1.0)
    inputs = (bones, vertices, len(points), theta, *skeleton, *skin, correspondences, points, *scratch)
    return both_forms("hand", "hand_objective", inputs, results=(np.empty_like(points),), has_value=False)


def of_text(weights: np.ndarray, extra: np.ndarray, state: np.ndarray, sequence: np.ndarray) -> Native:
    layers, _, bits = state.shape
    scratch = (np.empty(size) for size in (layers * bits, layers * bits, bits))
    inputs = (layers, bits, len(sequence), weights, extra, state, sequence, *scratch)
    return both_forms("lstm", "lstm_objective", inputs)


# ---------------------------------------------------------------------------- rows of numbers
def of_map(x: np.ndarray, y_adj: np.ndarray) -> Native:
    code, y, x_adj = library("map", _real(x)), np.empty_like(x), np.empty_like(x)
    return Native(
        bound(code.map_objective, (len(x), x), (y,), has_value=False),
        bound(code.map_gradient, (len(x), x, y_adj), (y, x_adj), has_value=False),
    )


def of_histogram(values: np.ndarray, bins: np.ndarray, weights: np.ndarray) -> Native:
    code, counts = library("histogram"), np.empty_like(weights)
    inputs = (len(values), len(weights), bins, values, weights, counts)
    return Native(
        bound(code.histogram_objective, inputs),
        bound(code.histogram_gradient, inputs, (np.empty_like(values),)),
    )


def of_gather(table: np.ndarray, places: np.ndarray, weights: np.ndarray) -> Native:
    code, inputs = library("gather"), (places, table, weights)
    return Native(
        bound(code.gather_objective, (len(places), *inputs)),
        bound(code.gather_gradient, (len(places), len(table), *inputs), (np.empty_like(table),)),
    )


def of_reduction(name: str) -> Callable[..., Native]:
    """Objective and gradient of `reductions.c`."""

    def calls(x: np.ndarray) -> Native:
        code, inputs = library("reductions"), (len(x), x)
        return Native(
            bound(code[f"{name}_objective"], inputs),
            bound(code[f"{name}_gradient"], inputs, (np.empty_like(x),)),
        )

    return calls


def of_prefix_sum(x: np.ndarray, weights: np.ndarray) -> Native:
    code, inputs = library("scans"), (len(x), x, weights)
    return Native(
        bound(code.prefix_sum_objective, inputs),
        bound(code.prefix_sum_gradient, inputs, (np.empty_like(x),)),
    )


def of_recurrence(slopes: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> Native:
    code, inputs, states = library("scans"), (len(slopes), slopes, starts, weights), np.empty_like(slopes)
    adjoints = np.empty_like(slopes), np.empty_like(starts)
    return Native(
        bound(code.recurrence_objective, inputs),
        bound(code.recurrence_gradient, (*inputs, states), adjoints),
    )


def of_kmeans(has_curvature: bool) -> Callable[..., Native]:
    """The cost and its gradient, with the diagonal of the Hessian if asked for."""

    def calls(points: np.ndarray, centroids: np.ndarray) -> Native:
        code, counts = library("kmeans"), np.empty(len(centroids), int)
        inputs = (len(points), *centroids.shape, points, centroids)
        gradient = code.kmeans_curvature if has_curvature else code.kmeans_gradient
        results = tuple(np.empty_like(centroids) for _ in range(1 + has_curvature))
        return Native(
            bound(code.kmeans_objective, inputs),
            bound(gradient, (*inputs, counts), results),
        )

    return calls


# ---------------------------------------------------------------------------- tables and grids
def of_cross_sections(concentrations: np.ndarray, tables: np.ndarray, *others: np.ndarray) -> Native:
    code, lookups = library("cross_sections"), len(others[3])
    nuclides, points, _ = tables.shape
    inputs = (concentrations, tables, *others)
    return Native(
        bound(code.cross_sections_objective, (lookups, points, *inputs)),
        bound(
            code.cross_sections_gradient,
            (lookups, nuclides, points, len(concentrations), *inputs),
            (np.empty_like(concentrations), np.empty_like(tables)),
        ),
    )


def of_cells(*arguments: np.ndarray) -> Native:
    *inputs, y_adj = arguments
    code, y = library("hm_lstm", _real(y_adj)), np.empty_like(y_adj)
    adjoints = tuple(np.empty_like(y_adj) for _ in range(4))
    return Native(
        bound(code.hm_lstm_objective, (len(y), *inputs), (y,), has_value=False),
        bound(code.hm_lstm_gradient, (len(y), *inputs, y_adj), (y, *adjoints), has_value=False),
    )
