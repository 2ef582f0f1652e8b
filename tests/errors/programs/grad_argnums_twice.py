"""The same argument twice."""

import anadrome as ad


def program(x, y):
    return x * y


def call():
    return ad.grad(program, argnums=(0, 0))(1.0, 2.0)
