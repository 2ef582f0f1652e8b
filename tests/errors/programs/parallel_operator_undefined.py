"""A sum of bools."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.reduce("add", x > 0.0)


ARGUMENTS = (np.ones(20),)
