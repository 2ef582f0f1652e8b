"""An item of the list of the rows of an array is exchanged."""

import numpy as np


def program(x):
    rows = list(np.outer(x, x))
    rows[0] = x
    return rows[0]


ARGUMENTS = (np.ones(20),)
