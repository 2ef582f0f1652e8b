"""in_axes of another length."""

import anadrome as ad
import numpy as np


def program(x, y):
    return x * y


def call():
    return ad.vmap(program, in_axes=(0, 0, 0))(np.ones(20), np.ones(20))
