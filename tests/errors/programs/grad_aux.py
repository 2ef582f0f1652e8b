"""has_aux with a function that gives one number."""

import anadrome as ad


def program(x):
    return x * x


def call():
    return ad.grad(program, has_aux=True)(1.0)
