"""The objective of GMM in C beside ours, and beside our gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.c_code import bound, library
from bench.cases import Case
from bench.clock import Paired, paired

PREFIX = "gmm"
"""How the programs begin whose objective there is in C."""


def against_c(case: Case) -> tuple[Paired, Paired]:
    """The C objective first, our objective or our gradient second, on the same numbers, after the values of
    the objectives were compared."""
    ours, gradient = case.functions()
    arguments = case.arguments()
    theirs = c_objective(arguments)
    (expected,), found = theirs(), float(ours(*arguments))
    if not np.isclose(found, expected, rtol=1e-10, atol=0.0):
        raise AssertionError(f"C gives {expected!r}, anadrome {found!r}")
    return paired(theirs, lambda: ours(*arguments)), paired(theirs, lambda: gradient(*arguments))


def c_objective(arguments: tuple[Any, ...]) -> Callable[[], tuple[float]]:
    """The compiled C function, with its arguments and scratch in place."""
    alpha, mu, q, lower, x, gamma, m = arguments
    components, dimension = mu.shape
    scratch = (np.empty(size) for size in (components * dimension**2, components, components, dimension))
    arrays = (np.ascontiguousarray(array) for array in (alpha, mu, q, lower, x))
    inputs = (dimension, components, len(x), *arrays, float(gamma), m, *scratch)
    return bound(library("gmm").gmm_log_posterior, inputs)
