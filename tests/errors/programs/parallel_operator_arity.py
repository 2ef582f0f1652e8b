"""An operator of one value."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.reduce(lambda a: a, x, identity=0.0)


ARGUMENTS = (np.ones(20),)
