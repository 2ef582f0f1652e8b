"""A loop over a number."""

def program(x):
    total = 0.0
    for value in x:
        total += value
    return total


ARGUMENTS = (3.0,)
