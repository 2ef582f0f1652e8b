"""np.unique with an argument that has no compiled form."""

import numpy as np


def program(x):
    return np.unique(x, return_counts=True)


ARGUMENTS = (np.ones(20),)
