"""An item of a sparse matrix."""

import numpy as np
import scipy.sparse as sp


def program(A):
    return A[0, 1]


ARGUMENTS = (sp.csr_array(np.eye(20)),)
