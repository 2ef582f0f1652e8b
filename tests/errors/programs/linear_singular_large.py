"""The inverse of a large singular matrix."""

import numpy as np


def program(a):
    return np.linalg.inv(a)


ARGUMENTS = (np.ones((30, 30)),)
