"""The variable of a comprehension, read behind it."""

import numpy as np


def program(x):
    total = sum(value for value in x)
    return total + value


ARGUMENTS = (np.ones(20),)
