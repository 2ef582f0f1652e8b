"""A constant index beyond a dimension whose size is known at run time only."""

import numpy as np


def program(x):
    return x[200] * 2.0


ARGUMENTS = (np.ones(100),)
