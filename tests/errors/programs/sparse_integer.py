"""A sparse derivative by integers."""

import numpy as np

import anadrome as ad


def program(x):
    return x * 2.0


def TRANSFORM(function):
    return ad.jacobian(function, sparse=True)


ARGUMENTS = (np.arange(3),)
