"""A loop that goes one element too far."""

import numpy as np


def program(x, n):
    total = 0.0
    for i in range(n):
        total = total * 0.5 + x[i]
    return total


ARGUMENTS = (np.ones(100), 101)
