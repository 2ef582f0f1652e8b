"""A policy that needs more than its budget, which is found when the sizes are known."""

import numpy as np

import anadrome as ad


def program(u, n):
    for _ in ad.range(n, checkpoint="sqrt", memory="64kB"):
        u = np.sin(u)
    return np.sum(u)


ARGUMENTS = (np.ones(1000), 100)
TRANSFORM = ad.grad
