"""None that becomes a number in a loop, differentiated."""

import anadrome as ad
import numpy as np


def program(x, n):
    best = None
    for k in range(n):
        if best is None or x[k] > best:
            best = x[k]
    return best


ARGUMENTS = (np.ones(20), 20)
TRANSFORM = ad.grad
