"""A generator function whose items are asked for one by one."""


def halves(x):
    yield x
    yield x * 0.5


def program(x):
    values = halves(x)
    return next(values) + next(values)


ARGUMENTS = (1.0,)
