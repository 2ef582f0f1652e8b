"""Bit operations on floats."""

def program(x):
    return x & 3


ARGUMENTS = (1.0,)
