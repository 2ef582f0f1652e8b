"""An integer that becomes a float in a loop, under grad."""

import anadrome as ad
import numpy as np


def program(xs):
    total = 0
    for x in xs:
        total += x * x
    return total


ARGUMENTS = (np.ones(20),)
TRANSFORM = ad.grad
