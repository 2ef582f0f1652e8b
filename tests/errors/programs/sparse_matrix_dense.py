"""A dense matrix that SciPy makes an np.matrix."""

import numpy as np
import scipy.sparse as sp


def program(A):
    return A.todense()


ARGUMENTS = (sp.csr_matrix(np.eye(20)),)
