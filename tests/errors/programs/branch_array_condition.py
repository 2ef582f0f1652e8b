"""`if` on an array"""

import numpy as np


def program(x):
    if x > 0.0:
        return 1.0
    return 2.0


ARGUMENTS = (np.ones(20),)
