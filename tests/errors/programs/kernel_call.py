"""A kernel without a launch configuration."""

import anadrome as ad
import numpy as np


@ad.kernel
def double(x):
    i = ad.grid(1)
    if i < len(x):
        x[i] *= 2.0


def call():
    double(np.ones(10))
