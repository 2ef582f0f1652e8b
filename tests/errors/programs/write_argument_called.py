"""An argument that is written by a called function."""

import numpy as np


def clear(values):
    values[0] = 0.0


def program(x):
    clear(x)
    return x


ARGUMENTS = (np.ones(20),)
