"""A number that becomes an array in a loop."""

import numpy as np


def program(x, n):
    y = 0.0
    for i in range(n):
        y = y + x
    return y


ARGUMENTS = (np.ones(20), 3)
