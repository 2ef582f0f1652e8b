"""A constant that does not fit into 64 bits."""

def program(n):
    return n + 2**70


ARGUMENTS = (1,)
