"""A helper of plain Python that raises while compiling."""

def program(x):
    return x * int("seven")


ARGUMENTS = (1.0,)
