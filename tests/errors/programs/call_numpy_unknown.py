"""A NumPy function that is not supported."""

import numpy as np


def program(x):
    return np.histogramdd(x, x)


ARGUMENTS = (np.ones(20),)
