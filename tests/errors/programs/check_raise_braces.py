"""A message with braces."""

def program(x):
    if x < 0.0:
        raise ValueError("x is not in {0, 1}")
    return x


ARGUMENTS = (-1.0,)
