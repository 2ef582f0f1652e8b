"""A gradient by a string."""

import anadrome as ad


def program(name, x):
    return x * 2.0


ARGUMENTS = ("linear", 2.0)
TRANSFORM = ad.grad
