"""A function of itertools over a run-time sequence, under grad."""

import itertools

import anadrome as ad
import numpy as np


def program(x):
    return sum(a * b for a, b in itertools.combinations(x, 2))


ARGUMENTS = (np.ones(20),)
TRANSFORM = ad.grad
