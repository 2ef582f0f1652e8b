"""argnums that is a float."""

import anadrome as ad


def program(x, y):
    return x * y


def call():
    return ad.grad(program, argnums=1.0)(1.0, 2.0)
