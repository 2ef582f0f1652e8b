"""The place of the least of no elements."""

import numpy as np


def program(x, n):
    return np.argmin(x[:n])


ARGUMENTS = (np.ones(20), 0)
