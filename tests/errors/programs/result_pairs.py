"""A run-time list of pairs as a result."""

import numpy as np


def program(x):
    return [(v, v * 2.0) for v in x]


ARGUMENTS = (np.ones(20),)
