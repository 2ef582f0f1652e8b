"""A kernel that returns a value."""

import anadrome as ad
import numpy as np


@ad.kernel
def double(x):
    i = ad.grid(1)
    return x[i] * 2.0


def call():
    double[1, 32](np.ones(32))
