"""argnums beyond the arguments."""

import anadrome as ad


def program(x, y):
    return x * y


def call():
    return ad.grad(program, argnums=2)(1.0, 2.0)
