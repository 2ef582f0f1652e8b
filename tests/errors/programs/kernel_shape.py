"""A shared array whose shape is an argument."""

import anadrome as ad
import numpy as np


@ad.kernel
def reverse(x, n):
    part = ad.shared.array(n, np.float64)
    part[ad.threadIdx.x] = x[ad.threadIdx.x]
    ad.syncthreads()
    x[ad.threadIdx.x] = part[n - 1 - ad.threadIdx.x]


def call():
    reverse[1, 32](np.ones(32), 32)
