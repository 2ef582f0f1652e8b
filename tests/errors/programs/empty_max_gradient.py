"""The greatest of no elements, under grad."""

import anadrome as ad
import numpy as np


def program(x, n):
    return np.max(x[:n])


ARGUMENTS = (np.ones(20), 0)
TRANSFORM = ad.grad
