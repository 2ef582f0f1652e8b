"""An output that is read-only."""

import anadrome as ad
import numpy as np


@ad.kernel
def clear(x):
    i = ad.grid(1)
    if i < len(x):
        x[i] = 0.0


def call():
    x = np.ones(32)
    x.flags.writeable = False
    clear[1, 32](x)
