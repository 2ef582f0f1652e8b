"""More memory than there is."""

import numpy as np


def program(x):
    return np.zeros(10**15) + x


ARGUMENTS = (1.0,)
