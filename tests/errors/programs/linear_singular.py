"""A linear system without a solution."""

import numpy as np


def program(a, b):
    return np.linalg.solve(a, b)


ARGUMENTS = (np.ones((3, 3)), np.ones(3))
