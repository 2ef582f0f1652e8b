"""An index out of bounds in a function under grad."""

import anadrome as ad
import numpy as np


def program(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i] ** 2
    return total


ARGUMENTS = (np.ones(100), 101)
TRANSFORM = ad.grad
