"""A Hessian of a vector."""

import anadrome as ad
import numpy as np


def program(x):
    return x * x


def call():
    return ad.hessian(program)(np.ones(20))
