"""Differences of one element, known when the program runs."""

import numpy as np


def program(x, n):
    return np.gradient(x[:n])


ARGUMENTS = (np.ones(20), 1)
