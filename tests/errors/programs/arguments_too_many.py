"""Too many arguments."""

def program(x, y):
    return x * y


ARGUMENTS = (1.0, 2.0, 3.0)
