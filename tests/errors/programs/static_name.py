"""A static argument that the function does not have."""

import anadrome as ad


def program(x, degree):
    return x**degree


def call():
    return ad.jit(program, static_argnames="order")
