"""A singular system, under grad."""

import anadrome as ad
import numpy as np


def program(a, b):
    return np.sum(np.linalg.solve(a, b))


ARGUMENTS = (np.zeros((30, 30)), np.ones(30))
TRANSFORM = ad.grad
