"""A neighbour that the last element has not."""

import numpy as np


def program(x):
    return sum(x[i + 1] - x[i] for i in range(len(x)))


ARGUMENTS = (np.ones(100),)
