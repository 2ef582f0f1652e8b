"""A donated argument that the function does not have."""

import anadrome as ad


def program(state, rate):
    return state * (1.0 - rate)


def call():
    return ad.jit(program, donate_argnames="velocity")
