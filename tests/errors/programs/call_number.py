"""A number that is called."""

def program(x):
    return x(2.0)


ARGUMENTS = (1.0,)
