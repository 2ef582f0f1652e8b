"""An assignment inside a comprehension."""

import numpy as np


def program(x):
    total = 0.0
    parts = [total := total + value for value in x]
    return parts


ARGUMENTS = (np.ones(20),)
