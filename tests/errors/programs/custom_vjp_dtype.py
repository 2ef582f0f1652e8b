"""A backward rule whose cotangent is of another scalar type."""

import anadrome as ad
import numpy as np


@ad.custom_vjp
def double(x):
    return 2.0 * x


def forward(x):
    return 2.0 * x, None


def backward(residuals, cotangent):
    return (np.float32(2.0) * cotangent.astype(np.float32),)


double.defvjp(forward, backward)


def program(x):
    return np.sum(double(x))


TRANSFORM = ad.grad
ARGUMENTS = (np.ones(3),)
