"""A function that has no form for complex numbers."""

import numpy as np


def program(a):
    values, _ = np.linalg.eigh(a)
    return values


ARGUMENTS = (np.eye(3) * 1j,)
