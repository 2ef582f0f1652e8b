"""A reduction of its own operator, under grad."""

import functools

import anadrome as ad
import numpy as np


def program(x):
    return functools.reduce(lambda a, b: a * b + a + b, x)


ARGUMENTS = (np.ones(20),)
TRANSFORM = ad.grad
