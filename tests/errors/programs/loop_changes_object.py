"""An object that an iteration exchanges for one that holds another kind of value."""

class Rate:
    def __init__(self, value, before=None):
        self.value, self.before = value, before


def program(x, n):
    rate = Rate(1.0)
    for _ in range(n):
        rate = Rate(rate.value + x, rate)
    return rate.value


ARGUMENTS = (1.5, 3)
