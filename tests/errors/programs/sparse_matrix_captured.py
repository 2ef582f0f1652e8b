"""A sparse matrix around the program in a format without a compiled form."""

import numpy as np
import scipy.sparse as sp

A = sp.lil_array((20, 20))


def program(x):
    return A @ x


ARGUMENTS = (np.ones(20),)
