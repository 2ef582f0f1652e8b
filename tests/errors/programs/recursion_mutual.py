"""Two functions that call each other."""

def even(n):
    return odd(n - 1)


def odd(n):
    return even(n - 1)


def program(n):
    return even(n)


ARGUMENTS = (5,)
