"""A value that may be None, used without a test."""

import numpy as np


def program(x):
    found = None
    for v in x:
        if v > 2.0:
            found = v
    return found * 2.0


ARGUMENTS = (np.linspace(0.0, 3.0, 20),)
