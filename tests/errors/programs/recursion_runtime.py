"""A recursion that ends by a run-time condition."""

def program(n):
    return 1 if n == 0 else n * program(n - 1)


ARGUMENTS = (5,)
