"""A recursion that nothing ends."""

def program(x):
    return program(x * 0.5) + 1.0


ARGUMENTS = (1.0,)
