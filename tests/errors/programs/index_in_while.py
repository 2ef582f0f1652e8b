"""A search that does not find what it looks for."""

import numpy as np


def program(x):
    i = 0
    while x[i] < 5.0:
        i += 1
    return i


ARGUMENTS = (np.ones(100),)
