"""Two indices into a vector."""

import numpy as np


def program(x):
    return x[0, 1]


ARGUMENTS = (np.ones(20),)
