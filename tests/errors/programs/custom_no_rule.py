"""A function that was announced to have a rule and has none."""

import anadrome as ad


@ad.custom_vjp
def identity(x):
    return x


def program(x):
    return identity(x) ** 2


TRANSFORM = ad.grad
ARGUMENTS = (1.0,)
