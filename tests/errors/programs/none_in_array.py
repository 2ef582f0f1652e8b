"""A value that may be None as an item of a new array."""

import numpy as np


def program(x):
    y = None
    if x > 0:
        y = 2.0
    return np.array([y, 1.0])


ARGUMENTS = (1.0,)
