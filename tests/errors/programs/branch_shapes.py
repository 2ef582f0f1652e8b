"""Arrays of different dimensions in the two branches."""

import numpy as np


def program(x):
    if x[0] > 0.0:
        y = x
    else:
        y = x[:, None]
    return np.sum(y)


ARGUMENTS = (np.ones(3),)
