"""An array is read after a write into one that may be the same."""

import numpy as np


def program(x, times):
    y = x.copy()
    for _ in range(times):
        y = y[::-1]
    z = y.ravel()
    z[0] = 5.0
    return y[0]


ARGUMENTS = (np.ones(20), 3)
