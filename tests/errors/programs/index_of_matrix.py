"""The second index of a matrix is outside."""

import numpy as np


def program(a, j):
    return sum(a[i, j] for i in range(a.shape[0]))


ARGUMENTS = (np.ones((20, 30)), 30)
