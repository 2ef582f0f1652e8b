"""A negative number of repeats, found when the program runs."""

import numpy as np


def program(x, n):
    return np.repeat(x, n)


ARGUMENTS = (np.ones(20), -1)
