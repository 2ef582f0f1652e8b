"""A complex constant meets a float."""

def program(x):
    return x * 2j


ARGUMENTS = (1.0,)
