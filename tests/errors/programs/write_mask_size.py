"""As many values as the mask has elements, not as many as are true."""

import numpy as np


def program(x):
    y = x.copy()
    y[x > 0.5] = np.zeros(3)
    return y


ARGUMENTS = (np.ones(20),)
