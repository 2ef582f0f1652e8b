"""A result that is a run-time list of strings."""

import numpy as np


def program(x):
    return ["big" if value > 0.0 else "small" for value in x]


ARGUMENTS = (np.ones(20),)
