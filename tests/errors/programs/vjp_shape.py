"""A cotangent of another shape."""

import anadrome as ad
import numpy as np


def program(x):
    return x * x


def call():
    value, pullback = ad.vjp(program, np.ones(20))
    return pullback(np.ones(21))
