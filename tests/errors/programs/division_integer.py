"""An integer divided by zero."""

def program(n):
    return 7 // n


ARGUMENTS = (0,)
