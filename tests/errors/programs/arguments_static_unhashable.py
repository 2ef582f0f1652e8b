"""A list declared static."""

import anadrome as ad


def program(x, sizes):
    return x * len(sizes)


def call():
    return ad.jit(program, static_argnums=1)(1.0, [1, 2])
