"""An array that grows in a loop."""

import numpy as np


def program(x, n):
    y = x
    for i in range(n):
        y = np.concatenate([y, x])
    return y


ARGUMENTS = (np.ones(20), 3)
