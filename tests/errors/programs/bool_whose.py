"""A sum of bools of which only the run knows whether they are Python's."""

import numpy as np


def program(x, a):
    is_large = x[0] > 1 if a > 0 else a > 1
    return is_large + (a > 2)


ARGUMENTS = (np.ones(3), 1.0)
