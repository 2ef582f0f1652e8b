"""A string of a run-time number as an item of a new array."""

import numpy as np


def program(x):
    return np.array([f"{x}"])


ARGUMENTS = (1.0,)
