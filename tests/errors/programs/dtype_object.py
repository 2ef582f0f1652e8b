"""An array of objects."""

import numpy as np


def program(x):
    return x * 2


ARGUMENTS = (np.array([1, None]),)
