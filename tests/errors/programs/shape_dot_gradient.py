"""A dot product of different lengths, under grad."""

import anadrome as ad
import numpy as np


def program(x, y):
    return np.dot(x, y)


ARGUMENTS = (np.ones(30), np.ones(31))
TRANSFORM = ad.grad
