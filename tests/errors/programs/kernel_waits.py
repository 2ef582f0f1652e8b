"""A block that waits for another one."""

import anadrome as ad
import numpy as np


@ad.kernel
def second_after_first(flag, x):
    if ad.blockIdx.x == 1:
        while flag[0] == 0:
            ad.threadfence()
        x[1] = x[0]
    else:
        x[0] = 2.0
        flag[0] = 1


def call():
    second_after_first[2, 1](np.zeros(1, np.int64), np.ones(2))
