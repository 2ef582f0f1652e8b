"""An array of complex numbers of extended precision."""

import numpy as np


def program(x):
    return x * 2


ARGUMENTS = (np.ones(3, dtype=np.clongdouble),)
