"""An argument that is written in a loop."""

import numpy as np


def program(x):
    for i in range(len(x)):
        x[i] = x[i] * 2.0
    return x


ARGUMENTS = (np.ones(20),)
