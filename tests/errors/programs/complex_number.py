"""A complex number."""


def program(x):
    return x * 2


ARGUMENTS = (1.0 + 2.0j,)
