"""Shared memory that is read and was not written."""

import numpy as np

import anadrome as ad


@ad.kernel
def shifted(x, y):
    tile = ad.shared.array(4, np.float64)
    t = ad.threadIdx.x
    if t > 0:
        tile[t] = x[t]
    ad.syncthreads()
    y[t] = tile[3 - t]


ad.check_kernel(shifted[1, 4], np.ones(4), np.zeros(4))
