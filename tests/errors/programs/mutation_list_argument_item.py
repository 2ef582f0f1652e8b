"""An item of a list argument that is replaced."""

def program(values):
    values[0] = 2.0
    return sum(values)


ARGUMENTS = ([1.0, 2.0],)
