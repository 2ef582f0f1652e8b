"""unique"""

import numpy as np


def program(x):
    return np.unique(x)


ARGUMENTS = (np.ones(20),)
