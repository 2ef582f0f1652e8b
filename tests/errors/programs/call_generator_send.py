"""A generator object that is advanced by hand."""

import numpy as np


def program(x):
    values = (v * 2.0 for v in x)
    return next(values)


ARGUMENTS = (np.ones(20),)
