"""A launch configuration that is no integer."""

import anadrome as ad
import numpy as np


@ad.kernel
def double(x):
    x[ad.grid(1)] *= 2.0


def program(x):
    y = x.copy()
    double[len(x) / 32, 32](y)
    return y


ARGUMENTS = (np.ones(64),)
