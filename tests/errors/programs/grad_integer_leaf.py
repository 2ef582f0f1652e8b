"""A gradient by a list of floats in which one is written without its point."""

import anadrome as ad


def program(parameters):
    return parameters[0] * parameters[1]


ARGUMENTS = ([2.0, 3],)
TRANSFORM = ad.grad
