"""A method of a string of run-time values."""

def program(x):
    print(f"x = {x}".upper())
    return x


ARGUMENTS = (1.0,)
