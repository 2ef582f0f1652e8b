"""The sparsity pattern of a function with a kernel in it."""

import anadrome as ad
import numpy as np


@ad.kernel
def weigh(w):
    i = ad.grid(1)
    if i < len(w):
        w[i] = 1.0 / (i + 1)


def program(x):
    w = np.zeros(len(x))
    weigh[2, 32](w)
    return x * w


def call():
    return ad.sparsity(program)(np.ones(64))
