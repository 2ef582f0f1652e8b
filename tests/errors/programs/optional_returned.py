"""A result that may be None, differentiated."""

import anadrome as ad


def program(x):
    found = None if x < 0.0 else x
    return found


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
