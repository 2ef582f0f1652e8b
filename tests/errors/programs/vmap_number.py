"""A number has no rows."""

import anadrome as ad
import numpy as np


def program(x, y):
    return x * y


def call():
    return ad.vmap(program)(np.ones(20), 2.0)
