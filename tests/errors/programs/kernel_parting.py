"""A barrier that some threads do not reach."""

import numpy as np

import anadrome as ad


@ad.kernel
def reversed_block(x, y):
    tile = ad.shared.array(8, np.float64)
    i = ad.grid(1)
    if i < len(x):
        tile[ad.threadIdx.x] = x[i]
        ad.syncthreads()
        y[i] = tile[7 - ad.threadIdx.x]


reversed_block[2, 8](np.ones(12), np.zeros(12))
