"""A sparse matrix in a format without a compiled form."""

import numpy as np
import scipy.sparse as sp


def program(A, x):
    return A @ x


ARGUMENTS = (sp.lil_array((20, 20)), np.ones(20))
