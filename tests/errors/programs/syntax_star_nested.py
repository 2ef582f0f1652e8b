"""A starred assignment target of a run-time list inside a tuple."""

import numpy as np


def program(x):
    (a, *b), c = x, 1.0
    return a + c


ARGUMENTS = (np.ones(20),)
