"""A bool or a whole number, as the condition falls, as an item of a list of run-time length."""

import numpy as np


def program(x):
    y = bool(x[0] > 3.0)
    if x[0] < 0.0:
        y = 7
    return [y for _ in x]


ARGUMENTS = (np.ones(20),)
