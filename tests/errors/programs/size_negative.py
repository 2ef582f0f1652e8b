"""A negative size."""

import numpy as np


def program(x):
    return np.zeros(-3) + x


ARGUMENTS = (1.0,)
