"""A function that has no form for complex numbers."""

import numpy as np


def program(a):
    values, _ = np.linalg.qr(a)
    return values


ARGUMENTS = (np.eye(3) * 1j,)
