"""A run-time range as a result."""

def program(n):
    return range(n)


ARGUMENTS = (5,)
