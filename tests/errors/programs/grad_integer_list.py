"""A gradient by a list of integers."""

import anadrome as ad


def program(weights):
    return sum(w * w for w in weights)


ARGUMENTS = ([1, 2, 3],)
TRANSFORM = ad.grad
