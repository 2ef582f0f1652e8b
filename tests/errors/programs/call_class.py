"""A class with its own __new__."""

class Unit:
    def __new__(cls, x):
        return object.__new__(cls)


def program(x):
    return Unit(x)


ARGUMENTS = (1.0,)
