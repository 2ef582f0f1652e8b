"""A pullback inside a program called with two cotangents where the result is one number."""

import anadrome as ad


def program(x):
    value, pullback = ad.vjp(lambda v: v * v, x)
    return value, pullback(1.0, 2.0)


ARGUMENTS = (2.0,)
