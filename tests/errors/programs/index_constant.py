"""A constant index beyond a small dimension."""

import numpy as np


def program(x):
    return x[3] * 2.0


ARGUMENTS = (np.ones(3),)
