"""The first of the items of a generator that counts them."""

import numpy as np


def program(x):
    seen = [0]

    def counted(v):
        seen[0] += 1
        return v

    first = next(counted(v) for v in x if v > 1.5)
    return first * seen[0]


ARGUMENTS = (np.arange(9.0),)
