"""unique rows"""

import numpy as np


def program(x):
    return np.unique(x, axis=0)


ARGUMENTS = (np.ones(20),)
