"""A raise that is reached when the program runs."""

import numpy as np


def program(x):
    if x < 0.0:
        raise ValueError("x must not be negative")
    return np.sqrt(x)


ARGUMENTS = (-1.0,)
