"""Differentiation by a name that is no argument's."""

import anadrome as ad


def program(x, *, scale=1.0):
    return x * x * scale


def call():
    return ad.grad(program, argnames="factor")(1.0, scale=2.0)
