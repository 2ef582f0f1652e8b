"""A negative number of tiles."""

import numpy as np


def program(x):
    return np.tile(x, (2, -1))


ARGUMENTS = (np.ones(20),)
