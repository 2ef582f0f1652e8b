"""A matrix that is not positive definite."""

import numpy as np


def program(a):
    return np.linalg.cholesky(a)


ARGUMENTS = (-np.eye(20),)
