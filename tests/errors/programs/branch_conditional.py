"""A conditional expression of a number and None, differentiated."""

import anadrome as ad

def program(x):
    return x if x > 0.0 else None


ARGUMENTS = (1.0,)
TRANSFORM = ad.grad
