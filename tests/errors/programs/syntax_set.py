"""A set of run-time values."""

def program(x):
    return len({x, x * 2.0})


ARGUMENTS = (1.0,)
