"""Rows of different number inside a compiled function."""

import anadrome as ad
import numpy as np


def program(x, y):
    return np.sum(ad.vmap(lambda a, b: a * b)(x, y))


ARGUMENTS = (np.ones(3), np.ones(4))
