"""A gradient by an integer."""

import anadrome as ad


def program(n):
    return n * 2.0


ARGUMENTS = (3,)
TRANSFORM = ad.grad
