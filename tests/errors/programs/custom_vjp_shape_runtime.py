"""A backward rule whose cotangent has another size, found when the program runs."""

import anadrome as ad
import numpy as np


@ad.custom_vjp
def rest(x, y):
    return np.sum(x[1:]) + np.sum(y)


def forward(x, y):
    return rest(x, y), (x, y)


def backward(residuals, cotangent):
    x, y = residuals
    return y * 0.0 + cotangent, np.ones(y.shape) * cotangent


rest.defvjp(forward, backward)


def program(x, y):
    return rest(x, y)


TRANSFORM = ad.grad
ARGUMENTS = (np.ones(20), np.ones(21))
