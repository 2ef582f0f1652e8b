"""Random numbers in a function that runs in any order."""

import anadrome as ad
import numpy as np


def program(x, rng):
    return np.vectorize(lambda v: v * rng.random())(x)


def call():
    return ad.jit(program)(np.ones(20), np.random.default_rng(0))
