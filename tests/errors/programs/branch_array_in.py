"""An array looked for in a list: each comparison is an array and no bool."""

import numpy as np


def program(x):
    return x in [1.0, 2.0]


ARGUMENTS = (np.ones(20),)
