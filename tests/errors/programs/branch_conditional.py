"""A conditional expression of a number and None."""

def program(x):
    return x if x > 0.0 else None


ARGUMENTS = (1.0,)
