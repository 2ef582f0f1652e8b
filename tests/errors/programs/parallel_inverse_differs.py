"""An inverse whose result is a pair."""

import anadrome as ad


def program(x):
    return ad.reduce(lambda a, b: a + b, x, identity=0.0, inverse=lambda r, v: (r, v))


ARGUMENTS = ([1.0, 2.0],)
