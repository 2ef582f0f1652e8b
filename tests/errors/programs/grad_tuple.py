"""A gradient of a pair."""

import anadrome as ad


def program(x):
    return x * 2.0, x


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
