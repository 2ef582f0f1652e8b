"""A global that is written."""

calls = 0


def program(x):
    global calls
    calls += 1
    return x


ARGUMENTS = (1.0,)
