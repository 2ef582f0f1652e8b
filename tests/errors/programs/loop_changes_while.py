"""An integer that becomes a float in a while."""

def program(x):
    n = 1
    while x > n:
        n = n * 1.5
    return n


ARGUMENTS = (5.0,)
