"""The identity of a sum of pairs is one number."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), (x, x), identity=0.0)


ARGUMENTS = (np.ones(20),)
