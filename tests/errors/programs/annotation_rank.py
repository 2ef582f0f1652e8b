"""A matrix where a vector is announced."""

import anadrome as ad
import numpy as np


def program(x: ad.f64["n"]):
    return np.sum(x)


ARGUMENTS = (np.ones((2, 2)),)
