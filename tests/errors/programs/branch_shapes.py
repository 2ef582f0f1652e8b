"""Arrays of different shape in the two branches."""

import numpy as np


def program(x):
    if x[0] > 0.0:
        y = x
    else:
        y = x[:2]
    return np.sum(y)


ARGUMENTS = (np.ones(3),)
