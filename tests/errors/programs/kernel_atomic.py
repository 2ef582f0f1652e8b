"""A bitwise atomic operation on floats."""

import anadrome as ad
import numpy as np


@ad.kernel
def mark(x):
    ad.atomic.or_(x, 0, 1)


def call():
    mark[1, 32](np.ones(32))
