"""A complex number as an argument."""

def program(x):
    return x * 2


ARGUMENTS = (1.0 + 2.0j,)
