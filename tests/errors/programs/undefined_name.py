"""A name that is nowhere."""

def program(x):
    return x * scael


ARGUMENTS = (1.0,)
