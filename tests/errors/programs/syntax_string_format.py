"""A run-time value in an f-string."""

def program(x):
    label = f"x = {x}"
    return x


ARGUMENTS = (1.0,)
