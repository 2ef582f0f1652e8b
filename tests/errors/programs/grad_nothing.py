"""A gradient of a function that forgot its `return`."""

import anadrome as ad


def program(x):
    y = x * 2.0


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
