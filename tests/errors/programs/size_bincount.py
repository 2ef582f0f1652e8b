"""Counts of which there are fewer than none."""

import numpy as np


def program(i):
    return np.bincount(i, minlength=-3)


ARGUMENTS = (np.arange(20),)
