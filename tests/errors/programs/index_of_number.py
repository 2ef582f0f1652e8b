"""An index into a number."""

def program(x):
    return x[0]


ARGUMENTS = (1.0,)
