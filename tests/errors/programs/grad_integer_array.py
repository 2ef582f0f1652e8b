"""A gradient by an array of integers."""

import anadrome as ad
import numpy as np


def program(x):
    return np.sum(x * 2.0)


ARGUMENTS = (np.arange(3),)
TRANSFORM = ad.grad
