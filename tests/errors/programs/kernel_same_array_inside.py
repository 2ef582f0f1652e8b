"""The same array twice, where one is written, inside a compiled function."""

import anadrome as ad
import numpy as np


@ad.kernel
def shift(x, y):
    i = ad.grid(1)
    if i < len(y):
        y[i] = x[i]


def program(x):
    y = x * 2.0
    shift[1, 64](y, y)
    return y


ARGUMENTS = (np.ones(64),)
