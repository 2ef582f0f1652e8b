"""A complex number goes into a real array."""

import numpy as np


def program(x):
    out = np.zeros(3)
    out[0] = x * 2j
    return out


ARGUMENTS = (1.0,)
