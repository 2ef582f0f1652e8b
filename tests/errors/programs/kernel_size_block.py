"""A block with too many threads."""

import anadrome as ad
import numpy as np


@ad.kernel
def double(x):
    x[ad.grid(1)] *= 2.0


def call():
    double[1, (64, 32)](np.ones(2048))
