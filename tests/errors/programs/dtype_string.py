"""An array of strings."""

import numpy as np


def program(x):
    return x[0]


ARGUMENTS = (np.array(["one", "two"]),)
