"""A string of run-time values that is compared."""

def program(x):
    return x if f"{x:.1f}" == "1.0" else -x


ARGUMENTS = (1.0,)
