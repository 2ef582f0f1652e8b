"""Subscripts that do not fit the operands."""

import numpy as np


def program(a, b):
    return np.einsum("ij,jk->ik", a, b)


ARGUMENTS = (np.ones((2, 3)), np.ones((4, 5)))
