"""A sparse system whose matrix is not square."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve


def program(A, b):
    return spsolve(A, b)


ARGUMENTS = (sp.csr_array((20, 30)), np.ones(20))
