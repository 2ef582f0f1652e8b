"""Gradient descent with a step that adapts itself: doubled after ten successes, halved after a failure.

Used by `particle` and `saddle`, inside programs that are themselves differentiated. It stops where the
gradient, or the next step, is at most 1e-5 long.

After Pearlmutter and Siskind, "Using programming language theory to make automatic differentiation sound and
efficient", 2008.
"""

import math
from collections.abc import Callable

import numpy as np

TOLERANCE = 1e-5


def length(vector: np.ndarray) -> float:
    return math.sqrt(sum(element**2 for element in vector))


def minimise(cost: Callable, derivative: Callable, start: np.ndarray) -> np.ndarray:
    """Where the cost is least, from a start; `derivative` is `ad.grad` or `ad.jacfwd`."""
    slope_of = derivative(cost)
    place, value, slope = start, cost(start), slope_of(start)
    rate, successes = 1e-5, 0
    while length(slope) > TOLERANCE:
        if successes == 10:
            rate, successes = 2.0 * rate, 0
            continue
        candidate = place - rate * slope
        if length(candidate - place) <= TOLERANCE:
            break
        candidate_value = cost(candidate)
        if candidate_value < value:
            place, value, slope = candidate, candidate_value, slope_of(candidate)
            successes += 1
        else:
            rate, successes = 0.5 * rate, 0
    return place


def maximise(cost: Callable, derivative: Callable, start: np.ndarray) -> np.ndarray:
    """Where the cost is greatest."""
    return minimise(lambda place: -cost(place), derivative, start)
