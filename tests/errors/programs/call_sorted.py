"""sorted by a key of run-time numbers"""

import numpy as np


def program(x):
    return sorted(x, key=lambda v: -v)


ARGUMENTS = (np.ones(20),)
