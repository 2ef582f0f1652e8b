"""A float added to an integer array in place."""

import numpy as np


def program(x):
    counts = np.zeros(3, dtype=np.int64)
    counts += x
    return counts


ARGUMENTS = (0.5,)
