"""No argument for a NumPy function."""

import numpy as np


def program(x):
    return np.arctan2(x)


ARGUMENTS = (np.ones(20),)
