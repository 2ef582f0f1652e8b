"""A mismatch two calls deep."""

import anadrome as ad
import numpy as np


def inner(x, y):
    return x - y


def outer(x, y):
    return inner(x, y[1:])


def program(x, y):
    return np.sum(outer(x, y) ** 2)


ARGUMENTS = (np.ones(20), np.ones(20))
TRANSFORM = ad.grad
