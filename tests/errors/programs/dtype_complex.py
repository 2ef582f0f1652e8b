"""An array of complex numbers."""

import numpy as np


def program(x):
    return x * 2


ARGUMENTS = (np.ones(3, dtype=complex),)
