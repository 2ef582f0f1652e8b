"""np.add.at, which writes in place."""

import numpy as np


def program(x):
    y = np.zeros(3)
    np.add.at(y, [0, 1, 1], x)
    return y


ARGUMENTS = (np.ones(3),)
