"""An argument that is written."""

import numpy as np


def program(x):
    x[0] = 1.0
    return x


ARGUMENTS = (np.ones(20),)
