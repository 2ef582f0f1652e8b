"""A sparse matrix with room beside its entries."""

import numpy as np
import scipy.sparse as sp


def program(A, x):
    return A @ x


ROOMY = sp.csr_array(np.eye(20))
ROOMY.data = np.ones(30)
ARGUMENTS = (ROOMY, np.ones(20))
