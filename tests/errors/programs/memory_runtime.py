"""More memory than there is, by a run-time size."""

import numpy as np


def program(n):
    y = np.zeros(n)
    y[n - 1] = 1.0
    return y


ARGUMENTS = (10**15,)
