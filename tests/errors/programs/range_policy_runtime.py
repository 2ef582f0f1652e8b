"""A checkpoint policy that is known at run time only."""

import anadrome as ad


def program(x, n):
    for _ in ad.range(n, checkpoint=n):
        x = x * x
    return x


ARGUMENTS = (1.5, 3)
TRANSFORM = ad.grad
