"""A backward rule with fewer cotangents than the function has arguments."""

import anadrome as ad


@ad.custom_vjp
def product(x, y):
    return x * y


def forward(x, y):
    return x * y, (x, y)


def backward(residuals, cotangent):
    x, y = residuals
    return (y * cotangent,)


product.defvjp(forward, backward)


def program(x):
    return product(x, x)


TRANSFORM = ad.grad
ARGUMENTS = (1.0,)
