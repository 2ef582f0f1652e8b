"""A result that may be None."""


def program(x):
    found = None if x < 0.0 else x
    return found


ARGUMENTS = (1.0,)
