"""An axis that an array does not have."""

import numpy as np


def program(x):
    return np.sum(x, axis=1)


ARGUMENTS = (np.ones(20),)
