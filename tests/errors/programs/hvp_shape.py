"""A direction of another shape."""

import anadrome as ad
import numpy as np


def program(x):
    return np.sum(x**3)


def call():
    return ad.hvp(program, (np.ones(20),), (np.ones(21),))
