"""A result that is a function of a run-time value."""

def program(x):
    return lambda y: x * y


ARGUMENTS = (1.0,)
