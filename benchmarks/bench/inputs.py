"""Arguments of the programs of the table: each function takes sizes, and gives what draws them, small or not.

Small ones say nothing, and are for a look at whether all runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adbench_data
import ba
import ht
import numpy as np

Arguments = tuple[Any, ...]
Draw = Callable[[bool], Arguments]


def random_numbers() -> np.random.Generator:
    """The same numbers in each run."""
    return np.random.default_rng(0)


# ---------------------------------------------------------------------------- programs of ADBench
def mixture(dimension: int, components: int, points: int = 1000) -> Draw:
    """Parameters of a Gaussian mixture, and points."""

    def draw(is_small: bool) -> Arguments:
        d, k, n = (min(dimension, 4), min(components, 5), 20) if is_small else (dimension, components, points)
        data = adbench_data.gmm_input(d, k, n)
        x = data["x"]
        if len(x) < n:  # the file has fewer
            x = random_numbers().normal(size=(n, d))
        return (*(data[name] for name in ("alpha", "mu", "q", "l")), x, data["gamma"], data["m"])

    return draw


def scene(number: int) -> Draw:
    """Cameras, points, weights, features and observations."""

    def draw(is_small: bool) -> Arguments:
        data = adbench_data.ba_input(number)
        return ba.replicate(data | {"n": 3, "m": 20, "p": 70} if is_small else data)

    return draw


def hand(number: int, variant: str, size: str) -> Draw:
    """Angles, a model of that size, and targets; barycentric coordinates too in the complicated variant."""

    def draw(is_small: bool) -> Arguments:
        data = adbench_data.hand_input(1 if is_small else number, variant, "small" if is_small else size)
        model = ht.hand_model(data["data"]["model"])
        us = (data["us"],) if variant == "complicated" else ()
        return data["theta"], *us, model, data["data"]["correspondences"], data["data"]["points"]

    return draw


def text(layers: int, characters: int) -> Draw:
    """Weights of an LSTM, its state, and a text."""

    def draw(is_small: bool) -> Arguments:
        data = adbench_data.lstm_input(layers, characters)
        bits = data["state"].shape[1]
        weights = data["main_params"].reshape(layers, 2, 4, bits)
        state, sequence = data["state"].reshape(layers, 2, bits), data["sequence"]
        return weights, data["extra_params"], state, sequence[:10] if is_small else sequence

    return draw


# ---------------------------------------------------------------------------- rows of numbers
def numbers(count: int) -> Draw:
    """Normal numbers."""
    return lambda is_small: (random_numbers().normal(size=1_000 if is_small else count),)


def weighted(count: int, dtype: type = np.float64) -> Draw:
    """Normal numbers and uniform weights."""

    def draw(is_small: bool) -> Arguments:
        random, n = random_numbers(), 1_000 if is_small else count
        return random.normal(size=n).astype(dtype), random.uniform(size=n).astype(dtype)

    return draw


def binned(is_small: bool) -> Arguments:
    """Values, the bin of each, and the weights of 256 bins."""
    random, n = random_numbers(), 1_000 if is_small else 10_000_000
    return random.uniform(size=n), random.integers(0, 256, n).astype(np.int32), random.uniform(size=256)


def gathered(is_small: bool) -> Arguments:
    """A table, places in it, and the weight of each."""
    random, (n, m) = random_numbers(), (1_000, 50) if is_small else (10_000_000, 10_000)
    return random.uniform(size=m), random.integers(0, m, n).astype(np.int32), random.uniform(size=n)


def recurrent(count: int) -> Draw:
    """Slopes below one, starts and weights."""

    def draw(is_small: bool) -> Arguments:
        random, n = random_numbers(), 1_000 if is_small else count
        return random.uniform(0.5, 0.999, size=n), random.normal(size=n), random.uniform(size=n) / n

    return draw


def clusters(points: int, dimension: int, centroids: int) -> Draw:
    """Points and centres."""

    def draw(is_small: bool) -> Arguments:
        random = random_numbers()
        size = (200 if is_small else points, dimension)
        return random.uniform(size=size), random.uniform(size=(centroids, dimension))

    return draw


# ---------------------------------------------------------------------------- look-ups in tables
NUCLIDE_COUNTS = (34, 5, 4, 4, 27, 21, 21, 21, 21, 21, 9, 9)
MATERIAL_SHARES = (0.140, 0.052, 0.275, 0.134, 0.154, 0.064, 0.066, 0.055, 0.008, 0.015, 0.025, 0.013)
"""Nuclides of each material of a reactor core, and how often a look-up meets it (Tramm et al. 2014)."""


def reactor(is_small: bool) -> Arguments:
    """Tables of 68 nuclides on grids of their own, 12 materials made of them, and look-ups."""
    random, (lookups, points) = random_numbers(), (100, 50) if is_small else (100_000, 11_303)
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


# ---------------------------------------------------------------------------- grids
def cells(dtype: type) -> Draw:
    """Gates and states of n × n units, boundaries that hold for a column, and the adjoint of the result."""

    def draw(is_small: bool) -> Arguments:
        random, n = random_numbers(), 24 if is_small else 2048
        arrays = [random.normal(size=(n, n)) for _ in range(4)]
        boundaries = [random.integers(0, 2, n) for _ in range(2)]
        return tuple(array.astype(dtype) for array in (*arrays, *boundaries, random.normal(size=(n, n))))

    return draw


def measured_points(is_small: bool) -> Arguments:
    """Length scales and noise of a Gaussian process, points in three dimensions, and a value at each."""
    random, n = random_numbers(), 20 if is_small else 400
    return np.array([0.3, 0.5, 0.8]), 0.1, random.uniform(size=(n, 3)), random.normal(size=n)


def images(is_small: bool) -> Arguments:
    """Weights of 3 × 3 points from 16 to 32 channels, and images."""
    random, (batch, width) = random_numbers(), (2, 6) if is_small else (8, 32)
    return random.normal(size=(32, 16, 3, 3)), random.normal(size=(batch, 16, width, width))


def lattice(is_small: bool) -> Arguments:
    """Atoms near a cubic lattice, and the pairs nearer than 2.5."""
    random, width = random_numbers(), 3 if is_small else 8
    sites = np.stack(np.meshgrid(*[np.arange(width)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    positions = 1.1 * sites + random.uniform(-0.05, 0.05, size=sites.shape)
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    return positions, np.argwhere(np.triu(apart < 2.5, 1))


def wave(is_small: bool) -> Arguments:
    """Speeds below the limit of stability, and a bump."""
    width = 10 if is_small else 100
    line = np.linspace(-1.0, 1.0, width)
    bump = np.exp(-20.0 * (line[:, None] ** 2 + line**2))
    return 0.3 + 0.2 * random_numbers().uniform(size=(width, width)), bump
