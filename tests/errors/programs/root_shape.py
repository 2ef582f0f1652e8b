"""Fewer equations than unknowns."""

import anadrome as ad
import numpy as np


def program(a):
    return ad.root(lambda x: x[0] - a, np.ones(2))[0]


ARGUMENTS = (1.0,)
