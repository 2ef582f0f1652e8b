"""A determinant of a matrix that is not square, found when it runs."""

import numpy as np


def program(a):
    return np.linalg.det(a)


ARGUMENTS = (np.ones((20, 30)),)
