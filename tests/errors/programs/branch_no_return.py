"""A path without a return, of a function that is differentiated."""

import anadrome as ad


def program(x):
    if x > 0.0:
        return x


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
