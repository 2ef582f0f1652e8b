"""A string where a number is expected inside a library function."""

import numpy as np


def program(x):
    return np.maximum(x, "zero")


ARGUMENTS = (np.ones(20),)
