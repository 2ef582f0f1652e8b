"""A keyword that NumPy does not have either."""

import numpy as np


def program(x):
    return np.sum(x, axes=0)


ARGUMENTS = (np.ones(20),)
