"""A write into a view that NumPy makes read-only."""

import numpy as np


def program(x):
    matrix = np.outer(x, x)
    diagonal = np.diag(matrix)
    diagonal[0] = 1.0
    return matrix


ARGUMENTS = (np.ones(3),)
