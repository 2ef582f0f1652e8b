"""The product of two sparse matrices."""

import numpy as np
import scipy.sparse as sp


def program(A, x):
    return (A @ A) @ x


ARGUMENTS = (sp.csr_array(np.eye(20)), np.ones(20))
