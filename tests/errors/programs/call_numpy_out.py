"""out= of another type"""

import numpy as np


def program(x):
    y = np.zeros(20, int)
    np.sin(x, out=y)
    return y


ARGUMENTS = (np.ones(20),)
