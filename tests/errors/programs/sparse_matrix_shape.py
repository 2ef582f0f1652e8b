"""A sparse matrix of entries without a shape."""

import numpy as np
import scipy.sparse as sp


def program(v):
    return sp.csr_array((v, (np.arange(20), np.arange(20)))) @ v


ARGUMENTS = (np.ones(20),)
