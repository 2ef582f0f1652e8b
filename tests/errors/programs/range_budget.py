"""A budget that does not hold two states, all sizes being known while compiling."""

import numpy as np

import anadrome as ad


def program(x):
    u = x * np.ones(8)
    for _ in ad.range(100, memory=100):
        u = np.sin(u)
    return np.sum(u)


ARGUMENTS = (1.5,)
TRANSFORM = ad.grad
