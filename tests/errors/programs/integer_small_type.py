"""A constant that does not fit into the type of the array."""

import numpy as np


def program(x):
    return x + 300


ARGUMENTS = (np.ones(3, dtype=np.uint8),)
