"""A system solved by iteration."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg


def program(A, b):
    x, _ = cg(A, b)
    return x


ARGUMENTS = (sp.csr_array(np.eye(20)), np.ones(20))
