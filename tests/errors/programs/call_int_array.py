"""int of an array"""

import numpy as np


def program(x):
    return int(x)


ARGUMENTS = (np.ones(20),)
