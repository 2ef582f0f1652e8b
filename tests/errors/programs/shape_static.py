"""Two small arrays that do not broadcast."""

import numpy as np


def program(x, y):
    return x + y


ARGUMENTS = (np.ones(3), np.ones(4))
