"""A sparse matrix plus a number."""

import numpy as np
import scipy.sparse as sp


def program(A, x):
    return (A + 1.0) @ x


ARGUMENTS = (sp.csr_array(np.eye(20)), np.ones(20))
