"""An array of half precision."""

import numpy as np


def program(x):
    return x * 2


ARGUMENTS = (np.ones(3, dtype=np.float16),)
