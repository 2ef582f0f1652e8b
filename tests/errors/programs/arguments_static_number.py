"""static_argnums beyond the arguments."""

import anadrome as ad


def program(x):
    return x * 2.0


def call():
    return ad.jit(program, static_argnums=5)(1.0)
