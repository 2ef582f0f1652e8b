"""A keyword argument that is not there."""

import anadrome as ad


def program(x):
    return x * x


def call():
    return ad.jit(program)(1.0, z=2.0)
