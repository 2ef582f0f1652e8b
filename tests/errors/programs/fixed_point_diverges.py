"""A fixed point that the iteration moves away from."""

import anadrome as ad


def program(a):
    return ad.fixed_point(lambda x: 2.0 * x + a, 1.0)


TRANSFORM = ad.grad
ARGUMENTS = (1.0,)
