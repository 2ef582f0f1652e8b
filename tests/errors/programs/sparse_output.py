"""A sparse derivative of integers."""

import numpy as np

import anadrome as ad


def program(x):
    return np.argsort(x)


def TRANSFORM(function):
    return ad.jacobian(function, sparse=True)


ARGUMENTS = (np.ones(3),)
