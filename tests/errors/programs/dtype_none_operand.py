"""None added to a number."""

def program(x, offset=None):
    return x + offset


ARGUMENTS = (1.0,)
