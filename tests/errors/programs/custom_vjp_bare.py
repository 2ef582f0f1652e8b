"""A backward rule that gives its cotangent without the tuple."""

import anadrome as ad


@ad.custom_vjp
def reverse(x):
    return x


reverse.defvjp(lambda x: (x, None), lambda residuals, cotangent: -cotangent)


def program(x):
    return reverse(x) ** 2


TRANSFORM = ad.grad
ARGUMENTS = (1.0,)
