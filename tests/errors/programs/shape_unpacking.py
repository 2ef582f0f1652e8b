"""Three names for two values."""

import numpy as np


def program(x):
    a, b, c = x
    return a + b + c


ARGUMENTS = (np.ones(2),)
