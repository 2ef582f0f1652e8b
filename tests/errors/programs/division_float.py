"""A Python float divided by zero."""

def program(x):
    return 7.0 % x


ARGUMENTS = (0.0,)
