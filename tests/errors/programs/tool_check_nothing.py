"""A check of gradients by arguments that hold no floats."""

import anadrome as ad


def program(x):
    return x * x


def call():
    return ad.check_grads(program, (3,))
