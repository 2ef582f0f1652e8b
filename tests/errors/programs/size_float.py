"""A size that is a float."""

import numpy as np


def program(x):
    return np.zeros(x)


ARGUMENTS = (3.0,)
