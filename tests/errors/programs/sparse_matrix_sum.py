"""The sum of two sparse matrices whose places may differ."""

import numpy as np
import scipy.sparse as sp


def program(A, B, x):
    return (A + B) @ x


ARGUMENTS = (sp.csr_array(np.eye(20)), sp.csr_array(np.eye(20)), np.ones(20))
