"""A sparse derivative with an auxiliary result."""

import anadrome as ad


def program(x):
    return x * x, x


def call():
    return ad.hessian(program, has_aux=True, sparse=True)
