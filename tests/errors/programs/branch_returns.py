"""A tuple or a number, as the condition falls."""

def program(x):
    if x > 0.0:
        return x, x
    return x


ARGUMENTS = (1.0,)
