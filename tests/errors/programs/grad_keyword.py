"""Differentiation by an argument passed by keyword."""

import anadrome as ad


def program(x):
    return x * x


def call():
    return ad.grad(program)(x=1.0)
