"""Random numbers under a condition that the run decides."""

import anadrome as ad
import numpy as np


def program(x, rng):
    if x > 0.0:
        x = x + rng.standard_normal()
    return x


def call():
    return ad.jit(program)(1.0, np.random.default_rng(0))
