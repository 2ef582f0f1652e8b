"""A negative number of points."""

import numpy as np


def program(n):
    return np.linspace(0.0, 1.0, n)


ARGUMENTS = (-3,)
