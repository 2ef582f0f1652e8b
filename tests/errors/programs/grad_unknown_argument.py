"""A transform inside a compiled function, with an argument that it does not have."""

import anadrome as ad


def program(x):
    return ad.grad(lambda y: y * y, step=0.1)(x)


ARGUMENTS = (1.0,)
