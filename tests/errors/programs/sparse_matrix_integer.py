"""A gradient by a sparse matrix of integers."""

import anadrome as ad
import numpy as np
import scipy.sparse as sp


def program(A):
    return 1.0 * A.nnz


TRANSFORM = ad.grad
ARGUMENTS = (sp.csr_array(np.eye(20, dtype=int)),)
