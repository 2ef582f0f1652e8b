"""An output that is not contiguous."""

import anadrome as ad
import numpy as np


@ad.kernel
def clear(x):
    i = ad.grid(1)
    if i < len(x):
        x[i] = 0.0


def call():
    clear[1, 32](np.ones(64)[::2])
