"""max with a key"""

import numpy as np


def program(x):
    return max(x, key=lambda value: -value)


ARGUMENTS = (np.ones(20),)
