"""A set comprehension."""

import numpy as np


def program(x):
    return sum({value * 2.0 for value in x})


ARGUMENTS = (np.ones(20),)
