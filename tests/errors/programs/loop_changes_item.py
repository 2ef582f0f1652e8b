"""A dict that is changed after copies of it were put into a list."""


def program(x, n):
    rate = {"value": 1.0}
    rates = [(rate, i) for i in range(n)]
    rate["value"] = x
    return sum(rate["value"] * i for rate, i in rates)


ARGUMENTS = (1.5, 3)
