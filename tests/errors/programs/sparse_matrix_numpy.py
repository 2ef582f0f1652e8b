"""A NumPy function of a sparse matrix."""

import numpy as np
import scipy.sparse as sp


def program(A, x):
    return np.dot(A, x)


ARGUMENTS = (sp.csr_array(np.eye(20)), np.ones(20))
