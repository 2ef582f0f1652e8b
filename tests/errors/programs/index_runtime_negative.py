"""A negative index that is an argument."""

import numpy as np


def program(x, i):
    return x[i]


ARGUMENTS = (np.ones(100), -101)
