"""A function as operator without its identity."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.scan(lambda a, b: a + b + a * b, x)


ARGUMENTS = (np.ones(20),)
