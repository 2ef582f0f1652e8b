"""An operator that makes pairs of numbers."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.reduce(lambda a, b: (a, b), x, identity=0.0)


ARGUMENTS = (np.ones(20),)
