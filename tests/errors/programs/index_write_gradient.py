"""A write outside an array, under grad."""

import anadrome as ad
import numpy as np


def program(x, n):
    y = np.zeros(20)
    for i in range(n):
        y[i] = x[0] * i
    return np.sum(y)


ARGUMENTS = (np.ones(20), 21)
TRANSFORM = ad.grad
