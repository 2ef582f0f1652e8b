"""A run-time array spread over arguments."""

import numpy as np


def add(*values):
    return sum(values)


def program(x):
    return add(*x)


ARGUMENTS = (np.ones(20),)
