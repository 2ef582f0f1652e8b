"""An assignment in the condition of a while."""

def program(x):
    while (step := x / 2.0) > 1.0:
        x = step
    return x


ARGUMENTS = (9.0,)
