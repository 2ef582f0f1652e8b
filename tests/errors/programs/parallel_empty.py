"""The greatest of nothing."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.reduce("max", x)


ARGUMENTS = (np.ones(0),)
