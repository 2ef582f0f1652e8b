"""A name given a value in one branch only."""

def program(x):
    if x > 0.0:
        scale = 2.0
    return x * scale


ARGUMENTS = (1.0,)
