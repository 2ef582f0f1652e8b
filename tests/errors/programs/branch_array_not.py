"""`not` of an array"""

import numpy as np


def program(x):
    return not x


ARGUMENTS = (np.ones(20),)
