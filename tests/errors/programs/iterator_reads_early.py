"""A running total, whose items are evaluated at once, of an array that the loop over it changes."""

import itertools

import numpy as np


def program(x):
    a, total = x.copy(), 0.0
    for v in itertools.accumulate(a):
        a[-1] = 0.5
        total += v
    return total


ARGUMENTS = (np.arange(9.0),)
