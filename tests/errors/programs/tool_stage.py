"""A stage that there is not."""

import anadrome as ad


def program(x):
    return x * x


def call():
    return ad.show(program, 1.0, stage="assembly")
