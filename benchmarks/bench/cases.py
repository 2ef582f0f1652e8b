"""The twelve programs: for each an objective, its derivative, and arguments of a size of the public suite;
some of them in larger sizes, and four programs more.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]
Pair = tuple[Callable[..., Any], Callable[..., Any]]


@dataclass(frozen=True)
class Case:
    """One program: what it is called, its size in words, and what makes functions and arguments."""

    name: str
    size: str
    functions: Callable[[], Pair]
    arguments: Callable[[], Arguments]


def of_module(module: str, objective: str, derivative: str) -> Callable[[], Pair]:
    """Two functions of a program in `examples/`, imported when they are asked for."""

    def load() -> Pair:
        program = importlib.import_module(module)
        return getattr(program, objective), getattr(program, derivative)

    return load


def _random() -> np.random.Generator:
    return np.random.default_rng(0)


def _gmm(dimension: int = 10, components: int = 25, points: int = 1000) -> Arguments:
    data = importlib.import_module("adbench_data").gmm_input(dimension, components, points)
    x = data["x"]
    if len(x) < points:  # the file has fewer
        x = _random().normal(size=(points, dimension))
    return (*(data[name] for name in ("alpha", "mu", "q", "l")), x, data["gamma"], data["m"])


def _ba(scene: int = 1) -> Arguments:
    data = importlib.import_module("adbench_data").ba_input(scene)
    return tuple(importlib.import_module("ba").replicate(data))


def _ht(number: int = 1, variant: str = "complicated", size: str = "small") -> Arguments:
    data = importlib.import_module("adbench_data").hand_input(number, variant, size)
    model = importlib.import_module("ht").hand_model(data["data"]["model"])
    return data["theta"], data["us"], model, data["data"]["correspondences"], data["data"]["points"]


def _simple_ht() -> Arguments:
    theta, _, *rest = _ht(5, "simple", "big")
    return (theta, *rest)


def _lstm(layers: int = 2, characters: int = 1024) -> Arguments:
    data = importlib.import_module("adbench_data").lstm_input(layers, characters)
    bits = data["state"].shape[1]
    weights = data["main_params"].reshape(layers, 2, 4, bits)
    return weights, data["extra_params"], data["state"].reshape(layers, 2, bits), data["sequence"]


def _kmeans() -> Arguments:
    points = _random().uniform(size=(10_000, 8))
    return points, points[:10].copy()


def _program() -> Any:
    return importlib.import_module("bench.programs")


def _particle() -> Pair:
    program, ad = importlib.import_module("particle"), importlib.import_module("anadrome")
    landing = program.landing_with(ad.grad)
    return landing, ad.grad(landing)


def _saddle() -> Pair:
    program, ad = importlib.import_module("saddle"), importlib.import_module("anadrome")
    worst = program.worst_with(ad.grad)
    return worst, ad.grad(worst)


CASES = (
    Case("hello", "one number", of_module("hello", "square", "double"), lambda: (3.0,)),
    Case("gmm", "n 1000, d 10, K 25", of_module("gmm", "log_posterior", "gradient"), _gmm),
    Case("ba", "31843 observations", of_module("ba", "residuals", "jacobian"), _ba),
    Case("ht", "100 points, 544 vertices", of_module("ht", "residuals", "jacobian"), _ht),
    Case("lstm", "2 layers, 1024 characters", of_module("lstm", "objective", "gradient"), _lstm),
    Case("kmeans", "n 10000, d 8, k 10", of_module("kmeans", "cost", "direction"), _kmeans),
    Case(
        "det", "7 × 7", of_module("det", "determinant", "gradient"), lambda: (_random().uniform(size=(7, 7)),)
    ),
    Case(
        "llsq",
        "n 1024, m 128",
        of_module("llsq", "objective", "gradient"),
        lambda: (_random().normal(size=1024), 128),
    ),
    Case(
        "lse",
        "n 100000",
        of_module("lse", "logsumexp", "gradient"),
        lambda: (_random().normal(size=100_000),),
    ),
    Case(
        "ode",
        "n 1000, 10 steps",
        of_module("ode", "last_component", "gradient"),
        lambda: (_random().uniform(size=1000), 10),
    ),
    Case("particle", "one trajectory", _particle, lambda: (np.array([0.1]),)),
    Case("saddle", "one ascent", _saddle, lambda: (np.array([1.0, 1.0]), np.array([1.0, 1.0]))),
)
"""The programs, in the order of the suite's pages. `direction` of kmeans is gradient and Hessian diagonal."""


def _larger_gmm(dimension: int, components: int, points: int = 1000) -> Case:
    return Case(
        f"gmm{dimension}_{components}" + ("" if points == 1000 else f"_{points // 1000}k"),
        f"n {points}, d {dimension}, K {components}",
        of_module("gmm", "log_posterior", "gradient"),
        partial(_gmm, dimension, components, points),
    )


LARGER = (
    _larger_gmm(2, 200, 10_000),
    _larger_gmm(32, 200),
    _larger_gmm(64, 25, 10_000),
    _larger_gmm(64, 200),
    _larger_gmm(128, 25),
    Case("ba4", "204472 observations", of_module("ba", "residuals", "jacobian"), partial(_ba, 4)),
    Case(
        "ht5_simple",
        "800 points, big",
        of_module("ht", "vertex_residuals", "vertex_jacobian"),
        _simple_ht,
    ),
    Case(
        "lstm4",
        "4 layers, 4096 characters",
        of_module("lstm", "objective", "gradient"),
        partial(_lstm, 4, 4096),
    ),
    Case(
        "process",
        "400 points",
        of_module("bench.programs", "evidence", "evidence_gradient"),
        lambda: _program().process_arguments(),
    ),
    Case(
        "convolution",
        "3 × 3, 16 to 32 channels",
        of_module("bench.programs", "convolution_loss", "convolution_gradient"),
        lambda: _program().convolution_arguments(),
    ),
    Case(
        "forces",
        "512 atoms, 20 steps",
        of_module("bench.programs", "force", "descent"),
        lambda: _program().lattice_arguments(),
    ),
    Case(
        "waves",
        "100 × 100, 200 steps",
        of_module("bench.programs", "wave_energy", "wave_gradient"),
        lambda: _program().wave_arguments(),
    ),
)
"""Larger sizes, and programs that are no part of the suite. `forces` is 20 steps beside one force."""
