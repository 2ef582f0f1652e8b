"""A number of tiles that is negative when the program runs."""

import numpy as np


def program(x, n):
    return np.tile(x, n)


ARGUMENTS = (np.ones(20), -1)
