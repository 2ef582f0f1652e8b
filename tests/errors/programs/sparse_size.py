"""A sparse derivative whose size depends on the differentiated values."""

import numpy as np

import anadrome as ad


def program(x):
    count = int(x[0])
    return np.array([x[1] * i for i in range(count)])


def TRANSFORM(function):
    return ad.jacobian(function, sparse=True)


ARGUMENTS = (np.ones(3),)
