"""The gradient of a complex result."""

import anadrome as ad


def program(z):
    return z * z


TRANSFORM = ad.grad
ARGUMENTS = (1.0 + 2.0j,)
