"""A dict comprehension over run-time values."""

import numpy as np


def program(x):
    table = {i: value for i, value in enumerate(x)}
    return table[0]


ARGUMENTS = (np.ones(20),)
