"""A step of zero."""

def program(n, step):
    total = 0
    for i in range(0, n, step):
        total += i
    return total


ARGUMENTS = (3, 0)
