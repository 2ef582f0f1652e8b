"""`assert` on an array"""

import numpy as np


def program(x):
    assert x > 0.0
    return x


ARGUMENTS = (np.ones(20),)
