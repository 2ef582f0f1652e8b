"""Too many arguments for a called function."""

def scale(x, factor):
    return x * factor


def program(x):
    return scale(x, x, x)


ARGUMENTS = (1.0,)
