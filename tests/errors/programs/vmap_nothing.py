"""No argument is mapped."""

import anadrome as ad
import numpy as np


def program(x):
    return x * x


def call():
    return ad.vmap(program, in_axes=None)(np.ones(20))
