"""A real array that an iteration makes complex."""

import numpy as np


def program(x):
    k = 0
    while k < len(x):
        x = x * 1j
        k += 1
    return x


ARGUMENTS = (np.ones(20),)
