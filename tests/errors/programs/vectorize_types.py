"""Results of two types."""

import numpy as np


def program(x):
    return np.vectorize(lambda v: max(0, v))(x)


ARGUMENTS = (np.ones(20),)
