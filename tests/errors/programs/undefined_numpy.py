"""A misspelt NumPy function."""

import numpy as np


def program(x):
    return np.sqare(x)


ARGUMENTS = (np.ones(20),)
