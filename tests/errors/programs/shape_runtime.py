"""Two large arrays of different length: one program serves all sizes, so this is found when it runs."""

import numpy as np


def program(x, y):
    return np.sum(x * y)


ARGUMENTS = (np.ones(30), np.ones(40))
