"""More shared memory than a block has."""

import anadrome as ad
import numpy as np


@ad.kernel
def tile(x):
    part = ad.shared.array((96, 96), np.float64)
    part[ad.threadIdx.x, 0] = x[ad.threadIdx.x]
    ad.syncthreads()
    x[ad.threadIdx.x] = part[ad.threadIdx.x, 0]


def call():
    tile[1, 32](np.ones(32))
