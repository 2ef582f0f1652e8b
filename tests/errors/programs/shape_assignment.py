"""A slice assigned an array of another size."""

import numpy as np


def program(x):
    y = np.zeros(4)
    y[:2] = x
    return y


ARGUMENTS = (np.ones(3),)
