"""Programs beside hand-written C: inputs of a full and of a small size, and calls of both versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import kmeans
import numpy as np

import anadrome as ad
from bench import native_programs as programs
from bench.c_code import bound, library

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Calls:
    """Calls of an objective and of its gradient, which gives the value too, with arguments in place."""

    objective: Callable[[], Any]
    gradient: Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A program: its full size in words, its arguments (small or not), calls of ours and of C with them."""

    size: str
    arguments: Callable[[bool], Arguments]
    ours: Callable[..., Calls]
    native: Callable[..., Calls]


# ---------------------------------------------------------------------------- ours
def of_loss(loss: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Calls]:
    """A loss, and its gradient by some of its arguments."""
    gradient = ad.value_and_grad(loss, argnums=argnums)
    return lambda *arguments: Calls(lambda: loss(*arguments), lambda: gradient(*arguments))


def of_array(function: Callable[..., Any], vjp: Callable[..., Any]) -> Callable[..., Calls]:
    """A function whose result is an array, and its derivative; the last argument is the result's adjoint."""
    return lambda *arguments: Calls(lambda: function(*arguments[:-1]), lambda: vjp(*arguments))


def of_kmeans(points: np.ndarray, centroids: np.ndarray) -> Calls:
    """The cost, and its gradient and curvature."""
    return Calls(lambda: kmeans.cost(points, centroids), lambda: programs.kmeans_curvature(points, centroids))


# ---------------------------------------------------------------------------- inputs
def _random() -> np.random.Generator:
    return np.random.default_rng(0)


def numbers(count: int, dtype: type = np.float64) -> Callable[[bool], Arguments]:
    """Normal numbers."""
    return lambda is_small: (_random().normal(size=1_000 if is_small else count).astype(dtype),)


def weighted(count: int, dtype: type = np.float64) -> Callable[[bool], Arguments]:
    """Normal numbers and uniform weights."""

    def draw(is_small: bool) -> Arguments:
        random, n = _random(), 1_000 if is_small else count
        return random.normal(size=n).astype(dtype), random.uniform(size=n).astype(dtype)

    return draw


def binned(is_small: bool) -> Arguments:
    """Values, the bin of each, and the weights of 256 bins."""
    random, n = _random(), 1_000 if is_small else 10_000_000
    return random.uniform(size=n), random.integers(0, 256, n).astype(np.int32), random.uniform(size=256)


def gathered(is_small: bool) -> Arguments:
    """A table, places in it, and the weight of each."""
    random, (n, m) = _random(), (1_000, 50) if is_small else (10_000_000, 10_000)
    return random.uniform(size=m), random.integers(0, m, n).astype(np.int32), random.uniform(size=n)


def recurrent(count: int) -> Callable[[bool], Arguments]:
    """Slopes below one, starts and weights."""

    def draw(is_small: bool) -> Arguments:
        random, n = _random(), 1_000 if is_small else count
        return random.uniform(0.5, 0.999, size=n), random.normal(size=n), random.uniform(size=n) / n

    return draw


NUCLIDE_COUNTS = (34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9)
MATERIAL_SHARES = (0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013)
"""Nuclides of each material of a reactor core, and how often a look-up meets it (Tramm et al. 2014)."""


def reactor(is_small: bool) -> Arguments:
    """Tables of 68 nuclides on grids of their own, 12 materials made of them, and look-ups."""
    random, (lookups, points) = _random(), (100, 50) if is_small else (100_000, 11_303)
    grids = np.sort(random.uniform(size=(68, points)), axis=1)
    grids[:, 0], grids[:, -1] = 0.0, 1.0
    tables = random.uniform(size=(68, points, 5))
    members, concentrations = np.zeros((12, 34), np.int32), np.zeros((12, 34))
    for material, count in enumerate(NUCLIDE_COUNTS):
        members[material, :count] = random.choice(68, count, replace=False)
        concentrations[material, :count] = random.uniform(size=count)
    counts, weights = np.array(NUCLIDE_COUNTS, np.int32), 0.5 ** np.arange(5)
    shares = np.array(MATERIAL_SHARES) / sum(MATERIAL_SHARES)
    materials = random.choice(12, lookups, p=shares).astype(np.int32)
    return concentrations, tables, grids, members, counts, random.uniform(size=lookups), materials, weights


def cells(dtype: type) -> Callable[[bool], Arguments]:
    """Gates and states of n × n units, boundaries that hold for a column, and the adjoint of the result."""

    def draw(is_small: bool) -> Arguments:
        random, n = _random(), 24 if is_small else 2048
        arrays = [random.normal(size=(n, n)) for _ in range(4)]
        boundaries = [random.integers(0, 2, n) for _ in range(2)]
        return tuple(array.astype(dtype) for array in (*arrays, *boundaries, random.normal(size=(n, n))))

    return draw


def clusters(is_small: bool) -> Arguments:
    """Points and five centres in 35 dimensions."""
    random = _random()
    return random.uniform(size=(200 if is_small else 494_019, 35)), random.uniform(size=(5, 35))


# ---------------------------------------------------------------------------- C
def _real(array: np.ndarray) -> str:
    return "float" if array.dtype == np.float32 else "double"


def c_map(x: np.ndarray, y_adj: np.ndarray) -> Calls:
    code, y, x_adj = library("map", _real(x)), np.empty_like(x), np.empty_like(x)
    return Calls(
        bound(code.map_objective, (len(x), x), (y,), has_value=False),
        bound(code.map_gradient, (len(x), x, y_adj), (y, x_adj), has_value=False),
    )


def c_histogram(values: np.ndarray, bins: np.ndarray, weights: np.ndarray) -> Calls:
    code, counts = library("histogram"), np.empty_like(weights)
    inputs = (len(values), len(weights), bins, values, weights, counts)
    return Calls(
        bound(code.histogram_objective, inputs),
        bound(code.histogram_gradient, inputs, (np.empty_like(values),)),
    )


def c_gather(table: np.ndarray, places: np.ndarray, weights: np.ndarray) -> Calls:
    code, inputs = library("gather"), (places, table, weights)
    return Calls(
        bound(code.gather_objective, (len(places), *inputs)),
        bound(code.gather_gradient, (len(places), len(table), *inputs), (np.empty_like(table),)),
    )


def c_reduction(name: str) -> Callable[..., Calls]:
    """Objective and gradient of `reductions.c`."""

    def calls(x: np.ndarray) -> Calls:
        code, inputs = library("reductions"), (len(x), x)
        return Calls(
            bound(code[f"{name}_objective"], inputs),
            bound(code[f"{name}_gradient"], inputs, (np.empty_like(x),)),
        )

    return calls


def c_prefix_sum(x: np.ndarray, weights: np.ndarray) -> Calls:
    code, inputs = library("scans"), (len(x), x, weights)
    return Calls(
        bound(code.prefix_sum_objective, inputs),
        bound(code.prefix_sum_gradient, inputs, (np.empty_like(x),)),
    )


def c_recurrence(slopes: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> Calls:
    code, inputs, states = library("scans"), (len(slopes), slopes, starts, weights), np.empty_like(slopes)
    adjoints = np.empty_like(slopes), np.empty_like(starts)
    return Calls(
        bound(code.recurrence_objective, inputs),
        bound(code.recurrence_gradient, (*inputs, states), adjoints),
    )


def c_cross_sections(concentrations: np.ndarray, tables: np.ndarray, *others: np.ndarray) -> Calls:
    code, lookups = library("cross_sections"), len(others[3])
    nuclides, points, _ = tables.shape
    inputs = (concentrations, tables, *others)
    return Calls(
        bound(code.cross_sections_objective, (lookups, points, *inputs)),
        bound(
            code.cross_sections_gradient,
            (lookups, nuclides, points, len(concentrations), *inputs),
            (np.empty_like(concentrations), np.empty_like(tables)),
        ),
    )


def c_hm_lstm(*arguments: np.ndarray) -> Calls:
    *inputs, y_adj = arguments
    code, y = library("hm_lstm", _real(y_adj)), np.empty_like(y_adj)
    adjoints = tuple(np.empty_like(y_adj) for _ in range(4))
    return Calls(
        bound(code.hm_lstm_objective, (len(y), *inputs), (y,), has_value=False),
        bound(code.hm_lstm_gradient, (len(y), *inputs, y_adj), (y, *adjoints), has_value=False),
    )


def c_kmeans(has_curvature: bool) -> Callable[..., Calls]:
    """The cost and its gradient, with the diagonal of the Hessian if asked for."""

    def calls(points: np.ndarray, centroids: np.ndarray) -> Calls:
        code, counts = library("kmeans"), np.empty(len(centroids), int)
        inputs = (len(points), *centroids.shape, points, centroids)
        gradient = code.kmeans_curvature if has_curvature else code.kmeans_gradient
        results = tuple(np.empty_like(centroids) for _ in range(1 + has_curvature))
        return Calls(
            bound(code.kmeans_objective, inputs),
            bound(gradient, (*inputs, counts), results),
        )

    return calls


# ---------------------------------------------------------------------------- the programs
MAP = of_array(programs.mapped, programs.mapped_vjp)
RECURRENCE = of_loss(programs.recurrence, (0, 1))
HM_LSTM = of_array(programs.hm_lstm, programs.hm_lstm_vjp)

CASES = {
    "map": Case("10⁶", weighted(1_000_000), MAP, c_map),
    "map_f32": Case("10⁷, float32", weighted(10_000_000, np.float32), MAP, c_map),
    "histogram": Case("10⁷ into 256", binned, of_loss(programs.histogram), c_histogram),
    "gather": Case("10⁷ from 10⁴", gathered, of_loss(programs.gather), c_gather),
    "logsumexp": Case("10⁶", numbers(1_000_000), of_loss(programs.logsumexp), c_reduction("logsumexp")),
    "max": Case("10⁶", numbers(1_000_000), of_loss(programs.greatest), c_reduction("max")),
    "prefix_sum": Case("10⁶", weighted(1_000_000), of_loss(programs.prefix_sum), c_prefix_sum),
    "recurrence": Case("10⁶", recurrent(1_000_000), RECURRENCE, c_recurrence),
    "recurrence_long": Case("10⁷", recurrent(10_000_000), RECURRENCE, c_recurrence),
    "cross_sections": Case(
        "10⁵ look-ups", reactor, of_loss(programs.cross_sections, (0, 1)), c_cross_sections
    ),
    "hm_lstm": Case("2048 × 2048", cells(np.float64), HM_LSTM, c_hm_lstm),
    "hm_lstm_f32": Case("2048 × 2048, float32", cells(np.float32), HM_LSTM, c_hm_lstm),
    "kmeans": Case("n 494019, d 35, k 5", clusters, of_loss(kmeans.cost, 1), c_kmeans(False)),
    "kmeans_curvature": Case("the same, with Hessian", clusters, of_kmeans, c_kmeans(True)),
}
