"""An element that every thread writes."""

import numpy as np

import anadrome as ad


@ad.kernel
def total(x, y):
    y[0] = y[0] + x[ad.grid(1)]


total[1, 4](np.ones(4), np.zeros(1))
