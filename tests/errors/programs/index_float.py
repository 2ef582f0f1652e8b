"""An index that is a float."""

import numpy as np


def program(x, t):
    return x[t * 2]


ARGUMENTS = (np.ones(20), 1.0)
