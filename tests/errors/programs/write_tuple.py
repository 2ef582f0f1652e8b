"""An item of a tuple."""

def program(x):
    pair = (x, x)
    pair[0] = 1.0
    return pair


ARGUMENTS = (1.0,)
