"""Too few arguments."""

def program(x, y):
    return x * y


ARGUMENTS = (1.0,)
