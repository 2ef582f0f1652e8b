"""A fixed point that starts at an integer."""

import anadrome as ad


def program(a):
    return ad.fixed_point(lambda x: 0.5 * x + a, 1)


ARGUMENTS = (1.0,)
