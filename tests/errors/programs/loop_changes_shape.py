"""An array that doubles in every iteration of a loop, in a program that prints."""

import numpy as np


def program(x, n):
    y = x
    print("begins with", len(y))
    for i in range(n):
        y = np.concatenate([y, y])
    return y


ARGUMENTS = (np.ones(20), 3)
