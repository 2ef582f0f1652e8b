"""Another large size than is announced."""

import anadrome as ad
import numpy as np


def program(x: ad.f64[100]):
    return np.sum(x)


ARGUMENTS = (np.ones(101),)
