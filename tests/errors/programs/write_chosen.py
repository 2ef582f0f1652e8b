"""An array is read after a write into one that may be the same."""

import numpy as np


def program(x):
    y = x.copy()
    z = y if x[0] > 0.0 else x * 2.0
    z[0] = 5.0
    return y[0]


ARGUMENTS = (np.ones(20),)
