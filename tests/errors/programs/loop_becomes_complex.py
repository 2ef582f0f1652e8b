"""A real array that an iteration makes complex."""

import numpy as np


def program(x):
    for _ in range(100):
        x = x * 1j
    return x


ARGUMENTS = (np.ones(20),)
