"""A write into the values of a sparse matrix that is an argument."""

import numpy as np
import scipy.sparse as sp


def program(A):
    A *= 2.0
    return A


ARGUMENTS = (sp.csr_array(np.eye(20)),)
