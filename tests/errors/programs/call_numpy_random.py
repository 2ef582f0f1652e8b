"""Random numbers."""

import numpy as np


def program(x):
    return x + np.random.normal(size=x)


ARGUMENTS = (3,)
