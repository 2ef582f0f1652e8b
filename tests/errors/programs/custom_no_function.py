"""`checkpoint` of a number."""

import anadrome as ad


def program(x):
    return ad.checkpoint(x * x)


TRANSFORM = ad.grad
ARGUMENTS = (1.0,)
