"""A forward-mode rule that gives the tangent alone."""

import anadrome as ad
import numpy as np


@ad.custom_jvp
def smooth(x):
    return np.sqrt(x * x + 1.0)


@smooth.defjvp
def smooth_jvp(primals, tangents):
    return primals[0] * tangents[0]


def program(x):
    return smooth(x) * 2.0


TRANSFORM = ad.grad
ARGUMENTS = (1.0,)
