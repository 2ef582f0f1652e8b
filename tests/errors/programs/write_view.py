"""A write through a transpose of a reshape."""

import numpy as np


def program(x):
    y = x.copy().reshape(4, 5).T
    y[0, 0] = 1.0
    return y


ARGUMENTS = (np.ones(20),)
