"""An argument that is an integer and becomes a float in a loop, under grad."""

import anadrome as ad
import numpy as np


def program(xs, total):
    k = 0
    while k < len(xs):
        total += xs[k] * xs[k]
        k += 1
    return total


ARGUMENTS = (np.ones(20), 3)
TRANSFORM = ad.grad
