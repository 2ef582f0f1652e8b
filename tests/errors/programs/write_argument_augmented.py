"""An argument that is added to in place."""

import numpy as np


def program(x):
    x += 1.0
    return x


ARGUMENTS = (np.ones(20),)
