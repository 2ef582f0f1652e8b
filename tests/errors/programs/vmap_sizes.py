"""Rows of different number."""

import anadrome as ad
import numpy as np


def program(x, y):
    return x * y


def call():
    return ad.vmap(program)(np.ones(20), np.ones(21))
