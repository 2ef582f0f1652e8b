"""An object of a class of its own that an iteration exchanges for another one."""

class Rate:
    def __init__(self, value):
        self.value = value


def program(x, n):
    rate = Rate(1.0)
    for _ in range(n):
        rate = Rate(rate.value + x)
    return rate.value


ARGUMENTS = (1.5, 3)
