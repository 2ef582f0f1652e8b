"""An array that is written, and not named among the outputs."""

import anadrome as ad
import numpy as np


@ad.kernel(out="y")
def double(x, y):
    x[ad.grid(1)] *= 2.0


def call():
    double[1, 32](np.ones(32), np.ones(32))
