"""A fixed point of a function that gives a pair for one number."""

import anadrome as ad


def program(a):
    return ad.fixed_point(lambda x: (0.5 * x, a), 1.0)


ARGUMENTS = (1.0,)
