"""Too many arguments for a NumPy function."""

import numpy as np


def program(x):
    return np.exp(x, x, x)


ARGUMENTS = (np.ones(20),)
