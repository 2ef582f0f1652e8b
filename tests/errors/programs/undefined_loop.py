"""A name given a value in a loop that may not run."""

def program(x, n):
    for i in range(n):
        last = x * i
    return last


ARGUMENTS = (1.0, 3)
