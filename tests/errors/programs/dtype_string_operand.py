"""A string added to a number."""

def program(x):
    return x + "one"


ARGUMENTS = (1.0,)
