"""A negative size at run time."""

import numpy as np


def program(n):
    return np.zeros(n)


ARGUMENTS = (-3,)
