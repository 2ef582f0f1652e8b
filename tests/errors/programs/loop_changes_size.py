"""An array that grows in a `while`, in a program that prints."""

import numpy as np


def program(x, limit):
    values = x * 1.0
    while values[-1] > limit:
        values = np.append(values, 0.5 * values[-1])
        print(len(values))
    return values


ARGUMENTS = (np.ones(20), 0.01)
