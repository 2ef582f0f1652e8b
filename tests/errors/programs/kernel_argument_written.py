"""A kernel that writes an argument of the compiled function."""

import anadrome as ad
import numpy as np


@ad.kernel
def clear(x):
    i = ad.grid(1)
    if i < len(x):
        x[i] = 0.0


def program(x):
    clear[1, 32](x)
    return x


ARGUMENTS = (np.ones(32),)
