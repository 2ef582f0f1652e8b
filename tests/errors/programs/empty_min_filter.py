"""The least of the elements that pass a filter, and none does."""

import numpy as np


def program(x):
    return min(value for value in x if value > 2.0)


ARGUMENTS = (np.ones(20),)
