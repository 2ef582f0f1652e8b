"""An index outside of its array, found while the kernel runs."""

import anadrome as ad
import numpy as np


@ad.kernel
def double(x):
    x[ad.grid(1)] *= 2.0


def call():
    double[2, 32](np.ones(60))
