"""A chained comparison of arrays."""

import numpy as np


def program(x):
    return np.sum(0.0 < x < 1.0)


ARGUMENTS = (np.ones(20),)
