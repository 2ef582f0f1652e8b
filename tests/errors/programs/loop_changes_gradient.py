"""An argument that is an integer and becomes a float in a loop, under grad."""

import anadrome as ad
import numpy as np


def program(xs, total):
    for x in xs:
        total += x * x
    return total


ARGUMENTS = (np.ones(20), 3)
TRANSFORM = ad.grad
