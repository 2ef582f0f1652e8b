"""An argument that is memory of numbers, and no array."""

import array

import numpy as np

import anadrome as ad


def program(x):
    return np.sum(x)


def call():
    return ad.jit(program)(array.array("d", [1.0, 2.0]))
