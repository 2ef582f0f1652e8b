"""A name read before its assignment."""

def program(x):
    y = y + x
    return y


ARGUMENTS = (1.0,)
