"""Random numbers in a loop that may end early."""

import anadrome as ad
import numpy as np


def program(x, rng):
    for _ in range(100):
        x = x + rng.standard_normal()
        if x > 3.0:
            break
    return x


def call():
    return ad.jit(program)(1.0, np.random.default_rng(0))
