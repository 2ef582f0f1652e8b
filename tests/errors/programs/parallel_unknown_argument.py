"""An argument that there is not."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.scan("add", x, reverse=True)


ARGUMENTS = (np.ones(20),)
