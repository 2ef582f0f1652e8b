"""A gradient of a result instead of a function."""

import anadrome as ad


def program(x):
    return ad.grad(x * x)(x)


ARGUMENTS = (2.0,)
