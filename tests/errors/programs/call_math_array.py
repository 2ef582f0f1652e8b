"""A function of math, with an array."""

import math

import numpy as np


def program(x):
    return math.sin(x)


ARGUMENTS = (np.ones(20),)
