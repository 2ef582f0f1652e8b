"""argnums that is no number."""

import anadrome as ad


def program(x, y):
    return x * y


def call():
    return ad.grad(program, argnums="y")(1.0, 2.0)
