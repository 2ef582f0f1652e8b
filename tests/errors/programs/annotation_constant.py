"""Another size than is announced."""

import anadrome as ad
import numpy as np


def program(x: ad.f64["n", 3]):
    return np.sum(x)


ARGUMENTS = (np.ones((20, 4)),)
