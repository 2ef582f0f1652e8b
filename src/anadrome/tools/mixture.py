"""The program of the demonstration: the negative log-likelihood of a Gaussian mixture, in plain Python.

K Gaussians in D dimensions, with weights softmax(logits), means μ_k and precisions Q_kᵀQ_k, where Q_k is
lower triangular with exp(q_k) on its diagonal and the part below it packed column by column. Per point x_i,

    -log p(x_i) = D/2·log 2π - LSE_k (log softmax(logits)_k + Σ_j q_kj - ½‖Q_k (x_i - μ_k)‖²)

and the mean over all points, with a weak pull on Q that keeps a component from collapsing onto one point, is
what is minimised. Nothing here differentiates by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

PULL = 1e-4


class Mixture(NamedTuple):
    """The parameters: logits [K], means [K, D], log diagonals of Q [K, D], packed lower parts [K,
    D(D-1)/2]."""

    logits: Any
    means: Any
    log_diagonals: Any
    lowers: Any


def combine(function: Callable[..., Any], *mixtures: Mixture) -> Mixture:
    """A mixture of `function` of the others' fields."""
    return Mixture(*(function(*parts) for parts in zip(*mixtures, strict=True)))


def log_sum_exp(values: Any) -> Any:
    """log Σ exp, shifted by the largest so that nothing overflows."""
    largest = max(values)
    return largest + math.log(sum(math.exp(value - largest) for value in values))


def packed(row: int, column: int, dimension: int) -> int:
    """Where an element below the diagonal stands when the columns are packed one after the other."""
    return column * (2 * dimension - column - 3) // 2 + row - 1


def squared_distance(scale: Any, lower: Any, offset: Any) -> Any:
    """‖Q v‖², row by row."""
    dimension = len(offset)
    return sum(
        (scale[r] * offset[r] + sum(lower[packed(r, c, dimension)] * offset[c] for c in range(r))) ** 2
        for r in range(dimension)
    )


def negative_log_likelihood(mixture: Mixture, points: Any) -> Any:
    """The mean of -log p over the points [N, D], and the pull."""
    components, dimension = mixture.means.shape
    scales = np.exp(mixture.log_diagonals)
    heights = mixture.logits - log_sum_exp(mixture.logits) + np.sum(mixture.log_diagonals, axis=1)
    total = sum(
        log_sum_exp(
            [
                heights[k] - 0.5 * squared_distance(scales[k], mixture.lowers[k], point - mixture.means[k])
                for k in range(components)
            ]
        )
        for point in points
    )
    pull = PULL * (np.sum(scales**2) + np.sum(mixture.lowers**2)) / components
    return 0.5 * dimension * math.log(2.0 * math.pi) - total / len(points) + pull
