"""Two arguments and one tangent."""

import anadrome as ad


def program(x, y):
    return x * y


def call():
    return ad.jvp(program, (1.0, 2.0), (1.0,))
