"""A checkpointed function that writes into an array around it."""

import anadrome as ad
import numpy as np


def program(x):
    y = np.zeros(3)

    @ad.checkpoint
    def fill(v):
        y[0] = v
        return v * v

    return fill(x) + y[0]


TRANSFORM = ad.grad
ARGUMENTS = (1.0,)
