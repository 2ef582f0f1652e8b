"""Places that are floats."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.segment_sum(x, x, 3)


ARGUMENTS = (np.ones(20),)
