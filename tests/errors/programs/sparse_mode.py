"""A mode of sparse derivatives that there is not."""

import anadrome as ad


def program(x):
    return x * x


def call():
    return ad.jacobian(program, mode="mixed", sparse=True)
