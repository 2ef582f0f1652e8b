"""Two sizes that are announced as equal."""

import anadrome as ad
import numpy as np


def program(x: ad.f64["n"], y: ad.f64["n"]):
    return np.sum(x * y)


ARGUMENTS = (np.ones(20), np.ones(30))
