"""A gradient of an integer."""

import anadrome as ad


def program(x):
    return int(x)


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
