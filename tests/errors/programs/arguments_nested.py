"""An argument that contains itself."""

import anadrome as ad


def program(x):
    return 1.0


def call():
    values = [1.0]
    values.append(values)
    return ad.jit(program)(values)
