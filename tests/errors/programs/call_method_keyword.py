"""A keyword a method does not take."""

import numpy as np


def program(x):
    return x.sum(dim=0)


ARGUMENTS = (np.ones(20),)
