"""A budget in a unit that is none."""

import anadrome as ad


def program(x, n):
    for _ in ad.range(n, memory="64 pages"):
        x = x * x
    return x


ARGUMENTS = (1.5, 3)
TRANSFORM = ad.grad
