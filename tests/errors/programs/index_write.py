"""A write outside an array."""

import numpy as np


def program(n):
    y = np.zeros(20)
    for i in range(n):
        y[i] = i * 2.0
    return y


ARGUMENTS = (21,)
