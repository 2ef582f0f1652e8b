"""The Jacobian by a complex argument, column by column."""

import anadrome as ad


def program(z):
    return abs(z) ** 2


TRANSFORM = ad.jacfwd
ARGUMENTS = (1.0 + 2.0j,)
