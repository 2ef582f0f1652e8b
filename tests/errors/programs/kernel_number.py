"""A number where the kernel writes into an array."""

import anadrome as ad
import numpy as np


@ad.kernel
def add(x, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] += x[i]


def call():
    add[1, 32](np.ones(32), 1.0)
