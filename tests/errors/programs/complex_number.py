"""Complex numbers have no order."""


def program(z):
    return z if z < 1 else z * 2


ARGUMENTS = (1.0 + 2.0j,)
