"""An index that is an argument."""

import numpy as np


def program(x, i):
    y = 2.0 * x[i]
    return y


ARGUMENTS = (np.ones(100), 100)
