"""A derivative by an argument that has none in the table: the order of a Bessel function."""

import anadrome as ad

import scipy.special


def program(v):
    return scipy.special.jv(v, 2.0)


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
