"""A pullback inside a program called without the cotangent."""

import anadrome as ad


def program(x):
    value, pullback = ad.vjp(lambda v: v * v, x)
    return value, pullback()


ARGUMENTS = (2.0,)
