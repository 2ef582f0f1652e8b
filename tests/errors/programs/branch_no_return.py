"""A path without a return."""

def program(x):
    if x > 0.0:
        return x


ARGUMENTS = (1.0,)
