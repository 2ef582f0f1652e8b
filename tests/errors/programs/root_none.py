"""An equation without a root."""

import anadrome as ad


def program(a):
    return ad.root(lambda x: x * x + a, 1.5)


ARGUMENTS = (1.0,)
