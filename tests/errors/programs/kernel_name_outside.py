"""A name of kernels in a function that is none."""

import anadrome as ad


def program(x):
    return x + ad.threadIdx.x


ARGUMENTS = (1.0,)
