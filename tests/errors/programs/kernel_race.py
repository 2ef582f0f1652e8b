"""Two threads that touch one element."""

import numpy as np

import anadrome as ad


@ad.kernel
def neighbours(x, y):
    i = ad.grid(1)
    if i < len(x) - 1:
        y[i] = x[i]
        y[i + 1] += x[i]


ad.check_kernel(neighbours[1, 4], np.ones(4), np.zeros(4))
