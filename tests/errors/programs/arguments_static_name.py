"""static_argnames that is not there."""

import anadrome as ad


def program(x):
    return x * 2.0


def call():
    return ad.jit(program, static_argnames="size")(1.0)
