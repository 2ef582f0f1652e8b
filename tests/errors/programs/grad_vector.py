"""A gradient of a vector."""

import anadrome as ad
import numpy as np


def program(x):
    return x * 2.0


ARGUMENTS = (np.ones(20),)
TRANSFORM = ad.grad
