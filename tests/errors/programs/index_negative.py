"""A negative index beyond the front."""

import numpy as np


def program(x):
    return x[0] + x[-101]


ARGUMENTS = (np.ones(100),)
