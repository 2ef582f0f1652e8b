"""An assertion without a message."""

import numpy as np


def program(x):
    assert x > 0.0
    return np.log(x)


ARGUMENTS = (-1.0,)
