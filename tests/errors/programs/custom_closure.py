"""A function with a rule that reads a differentiated value around it."""

import anadrome as ad


def program(scale):
    @ad.custom_jvp
    def scaled(x):
        return scale * x

    @scaled.defjvp
    def scaled_jvp(primals, tangents):
        return scale * primals[0], scale * tangents[0]

    return scaled(scale + 1.0)


TRANSFORM = ad.grad
ARGUMENTS = (2.0,)
