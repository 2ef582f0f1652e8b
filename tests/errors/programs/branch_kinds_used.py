"""A bool or a whole number, as the condition falls, computed with."""


def program(x):
    y = bool(x > 3.0)
    if x < 0.0:
        y = 7
    return y + 1


ARGUMENTS = (1.0,)
