"""A pullback inside a program called by the name of its argument."""

import anadrome as ad


def program(x):
    value, pullback = ad.vjp(lambda v: v * v, x)
    return value, pullback(1.0, cotangent=1.0)


ARGUMENTS = (2.0,)
