"""The saddle point of a function: a minimum of maxima, both by gradient descent, so derivatives nest.

    min_x max_y f(x, y),    f(x, y) = (x_0² + x_1²) - (y_0² + y_1²)

The outer derivative goes through the whole inner ascent, loop and all. Both may be taken forward or in
reverse: `fr` is forward outside and in reverse inside.

GradBench eval `saddle`; Pearlmutter and Siskind, "Using programming language theory to make automatic
differentiation sound and efficient", 2008.
"""

from collections.abc import Callable

import numpy as np
from descent import maximise, minimise

import anadrome as ad


def value(x: np.ndarray, y: np.ndarray) -> float:
    return sum(x**2) - sum(y**2)


def worst_with(derivative: Callable) -> Callable:
    """max_y f(x, y) as a function of x, by ascent from a start with `ad.grad` or `ad.jacfwd`."""

    @ad.jit
    def worst(x: np.ndarray, start: np.ndarray) -> float:
        return value(x, maximise(lambda y: value(x, y), derivative, start))

    return worst


def saddle_point(outer: Callable, inner: Callable) -> Callable:
    """The saddle point [x, y], from a start for both, with these two derivatives."""
    worst = worst_with(inner)

    @ad.jit
    def search(start: np.ndarray) -> np.ndarray:
        x = minimise(lambda x: worst(x, start), outer, start)
        y = maximise(lambda y: value(x, y), outer, start)
        return np.concatenate((x, y))

    return search


ff = saddle_point(ad.jacfwd, ad.jacfwd)
fr = saddle_point(ad.jacfwd, ad.grad)
rf = saddle_point(ad.grad, ad.jacfwd)
rr = saddle_point(ad.grad, ad.grad)


def main() -> None:
    start = np.array([1.0, 1.0])
    for name, search in (("ff", ff), ("fr", fr), ("rf", rf), ("rr", rr)):
        point = search(start)
        print(f"{name}: x = {point[:2]}, y = {point[2:]}")


if __name__ == "__main__":
    main()
