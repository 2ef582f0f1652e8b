"""A SciPy function that is not in the tables."""

import anadrome as ad

import scipy.special


def program(x):
    return scipy.special.struve(1.0, x)


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
