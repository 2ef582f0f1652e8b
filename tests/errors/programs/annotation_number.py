"""An array where a number is announced."""

import anadrome as ad
import numpy as np


def program(x: ad.f64):
    return x * 2.0


ARGUMENTS = (np.ones(20),)
