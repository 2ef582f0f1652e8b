"""A Python integer that does not fit into 64 bits."""

def program(n):
    return n + 1


ARGUMENTS = (2**70,)
