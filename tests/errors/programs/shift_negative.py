"""A shift by a negative number."""

def program(n):
    return 1 << n


ARGUMENTS = (-1,)
