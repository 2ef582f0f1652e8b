"""Arithmetic on whole arrays in a thread."""

import anadrome as ad
import numpy as np


@ad.kernel
def add(x, y):
    total = x + y
    y[ad.grid(1)] = total[ad.grid(1)]


def call():
    add[1, 32](np.ones(32), np.ones(32))
