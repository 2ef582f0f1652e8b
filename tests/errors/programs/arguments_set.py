"""A set as an argument."""

def program(x):
    return sum(x)


ARGUMENTS = ({1.0, 2.0},)
