"""A string of run-time values as a result."""

def program(x):
    return f"x = {x}"


ARGUMENTS = (1.0,)
