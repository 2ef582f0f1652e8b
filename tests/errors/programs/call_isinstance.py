"""isinstance of something that is no type."""

def program(x):
    return x if isinstance(x, 5) else -x


ARGUMENTS = (1.0,)
