"""An index array with an entry that is outside."""

import numpy as np


def program(x, places):
    return np.sum(x[places])


ARGUMENTS = (np.ones(20), np.array([0, 19, 20] * 10))
