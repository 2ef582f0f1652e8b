"""A function that gives one of two generators, which only the run knows."""

import numpy as np


def large_or_small(x, is_large):
    if is_large:
        return (v for v in x if v > 1.0)
    return (v for v in x if v < 1.0)


def program(x):
    return sum(large_or_small(x, x[0] > 0.0))


ARGUMENTS = (np.ones(20),)
