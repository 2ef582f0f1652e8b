"""A keyword that is not supported."""

import numpy as np


def program(x):
    return np.linspace(0.0, x[0], 5, retstep=True)


ARGUMENTS = (np.ones(20),)
