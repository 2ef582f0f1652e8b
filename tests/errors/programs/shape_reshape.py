"""A reshape that does not keep the number of elements."""

import numpy as np


def program(x):
    return x.reshape(7, 3)


ARGUMENTS = (np.ones(20),)
