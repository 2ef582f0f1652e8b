"""A number of elements that becomes a float in a while."""

import numpy as np


def program(x):
    n = 1
    while x[0] > n:
        x = x + np.sum(np.ones(n))
        n = n * 1.5
    return x


ARGUMENTS = (np.ones(20) * 5,)
