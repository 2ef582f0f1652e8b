"""An item of a number."""

def program(x):
    x[0] = 1.0
    return x


ARGUMENTS = (1.0,)
