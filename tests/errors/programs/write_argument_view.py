"""A row of an argument that is written."""

import numpy as np


def program(a):
    row = a[0]
    row[:] = 0.0
    return a


ARGUMENTS = (np.ones((20, 3)),)
