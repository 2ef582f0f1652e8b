"""A misspelt method."""

import numpy as np


def program(x):
    return x.summ()


ARGUMENTS = (np.ones(20),)
