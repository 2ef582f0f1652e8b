"""A starred name takes a part of a run-time array."""

import numpy as np


def program(x):
    first, *rest = x
    return first + sum(rest)


ARGUMENTS = (np.ones(20),)
