"""A jitted generator function."""

def program(x):
    yield x
    yield x * 2.0


ARGUMENTS = (1.0,)
