"""An integer to a negative power."""

import numpy as np


def program(n, k):
    return np.arange(n) ** k


ARGUMENTS = (5, -1)
