"""`while` on an array"""

import numpy as np


def program(x):
    while x > 1.0:
        x = x / 2.0
    return x


ARGUMENTS = (np.ones(20),)
