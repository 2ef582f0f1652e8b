"""A reshape that does not keep the number of elements, found when it runs."""

import numpy as np


def program(x):
    return x.reshape(-1, 3)


ARGUMENTS = (np.ones(20),)
