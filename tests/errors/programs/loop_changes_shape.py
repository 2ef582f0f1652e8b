"""An array that doubles in every iteration of a loop."""

import numpy as np


def program(x, n):
    y = x
    for i in range(n):
        y = np.concatenate([y, y])
    return y


ARGUMENTS = (np.ones(20), 3)
