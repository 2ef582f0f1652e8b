"""An array of the module that is written."""

import numpy as np

TABLE = np.zeros(20)


def program(x):
    TABLE[0] = x
    return TABLE


ARGUMENTS = (1.0,)
