"""Plain Python code that fails while compiling."""

LAYERS = {"first": 1.0}


def program(x):
    return x * LAYERS["second"]


ARGUMENTS = (1.0,)
