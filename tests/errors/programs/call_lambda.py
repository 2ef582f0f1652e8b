"""An error in a lambda that stands beside another."""

pair = (lambda x: x * 2.0, lambda x: x + missing)


def program(x):
    return pair[1](pair[0](x))


ARGUMENTS = (1.0,)
