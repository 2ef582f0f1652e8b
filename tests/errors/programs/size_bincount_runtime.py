"""Counts of which there are fewer than none, known when the program runs."""

import numpy as np


def program(i, least):
    return np.bincount(i, minlength=least)


ARGUMENTS = (np.arange(20), -3)
