"""A Jacobian of integers."""

import anadrome as ad
import numpy as np


def program(x):
    return np.argsort(x)


ARGUMENTS = (np.array([2.0, 1.0]),)
TRANSFORM = ad.jacobian
