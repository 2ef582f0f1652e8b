"""A matrix with a NaN in it has no eigenvalues."""

import numpy as np


def program(a):
    return np.linalg.eigvals(a)


ARGUMENTS = (np.where(np.eye(3) > 0, np.nan, 1.0),)
