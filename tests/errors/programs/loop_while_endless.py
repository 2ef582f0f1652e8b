"""A loop over a static condition that never ends."""

def program(x):
    n = 1
    while n > 0:
        x = x * 0.5
    return x


ARGUMENTS = (1.0,)
