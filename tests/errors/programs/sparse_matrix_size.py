"""A sparse matrix and a vector that do not fit."""

import numpy as np
import scipy.sparse as sp


def program(A, x):
    return A @ x


ARGUMENTS = (sp.csr_array(np.eye(20)), np.ones(30))
