"""A mask of another size than the array."""

import numpy as np


def program(x):
    return x[np.array([True, False, True])]


ARGUMENTS = (np.ones(20),)
