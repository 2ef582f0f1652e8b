"""A keyword that is not supported."""

import numpy as np


def program(x):
    return np.sum(x, where=x > 0.0)


ARGUMENTS = (np.ones(20),)
