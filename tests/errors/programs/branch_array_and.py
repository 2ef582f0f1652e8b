"""`and` of arrays"""

import numpy as np


def program(x):
    return np.where((x > 0.0) and (x < 1.0), x, 0.0)


ARGUMENTS = (np.ones(20),)
