"""A shuffle from a lane that its mask does not name."""

import numpy as np

import anadrome as ad


@ad.kernel
def halved(x, y):
    t = ad.threadIdx.x
    if t < 4:
        y[t] = ad.shfl_down_sync(0xF, x[t], 2)


ad.check_kernel(halved[1, 8], np.ones(8), np.zeros(8))
