"""Arguments that are not in a tuple."""

import anadrome as ad


def program(x):
    return x * x


def call():
    return ad.jvp(program, 1.0, 1.0)
