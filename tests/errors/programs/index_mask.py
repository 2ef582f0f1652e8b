"""A mask as an index: the size of the result depends on the data."""

import numpy as np


def program(x):
    return np.sum(x[x > 0.0])


ARGUMENTS = (np.ones(20),)
