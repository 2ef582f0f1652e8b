"""A list multiplied by a run-time number."""

def program(x):
    return [1.0, 2.0] * x


ARGUMENTS = (3.0,)
