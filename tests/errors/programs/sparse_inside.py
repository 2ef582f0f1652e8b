"""A sparse derivative inside a compiled function."""

import numpy as np

import anadrome as ad


def program(x):
    return ad.jacobian(np.sin, sparse=True)(x)


ARGUMENTS = (np.ones(3),)
