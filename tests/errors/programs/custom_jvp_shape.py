"""A forward-mode rule whose tangent has another shape than the result."""

import anadrome as ad
import numpy as np


@ad.custom_jvp
def norm(x):
    return np.sqrt(np.sum(x * x))


@norm.defjvp
def norm_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return norm(x), x * t / norm(x)


def program(x):
    return norm(x) ** 2


TRANSFORM = ad.grad
ARGUMENTS = (np.ones(3),)
