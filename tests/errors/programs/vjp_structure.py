"""A cotangent that is one number for a pair."""

import anadrome as ad


def program(x):
    return x, x * x


def call():
    value, pullback = ad.vjp(program, 2.0)
    return pullback(1.0)
