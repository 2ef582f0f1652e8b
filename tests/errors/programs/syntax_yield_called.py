"""A generator function that is called."""

def halves(x):
    yield x
    yield x * 0.5


def program(x):
    return sum(halves(x))


ARGUMENTS = (1.0,)
