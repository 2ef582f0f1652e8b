"""A format that numbers do not have."""

def program(x):
    print(f"{x:.3q}")
    return x


ARGUMENTS = (1.0,)
