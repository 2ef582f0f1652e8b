"""A derivative that is not sparse at all."""

import numpy as np

import anadrome as ad


def program(x):
    order = np.argsort(x)
    return x[order]


def TRANSFORM(function):
    return ad.jacobian(function, sparse=True)


ARGUMENTS = (np.ones(20_000),)
