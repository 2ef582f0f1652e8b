"""Floats summed into an array of integers."""

import anadrome as ad
import numpy as np


def program(x):
    return ad.reduce_by_index(np.zeros(3, int), "add", np.array([0, 1]), x[:2])


ARGUMENTS = (np.ones(20),)
