"""A name that was deleted."""

def program(x):
    y = x
    del y
    return y


ARGUMENTS = (1.0,)
