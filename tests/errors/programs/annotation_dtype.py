"""Single precision where double is announced."""

import anadrome as ad
import numpy as np


def program(x: ad.f64["n"]):
    return np.sum(x)


ARGUMENTS = (np.ones(20, dtype=np.float32),)
