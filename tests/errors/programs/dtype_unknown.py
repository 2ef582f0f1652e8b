"""An array asked for with a type that is not supported."""

import numpy as np


def program(x):
    return np.zeros(3, dtype=np.float16) + x


ARGUMENTS = (1.0,)
