"""Sparse matrices as the rows of a result."""

import anadrome as ad
import numpy as np
import scipy.sparse as sp


def program(s):
    return s * A


A = sp.csr_array(np.eye(20))
TRANSFORM = ad.vmap
ARGUMENTS = (np.ones(20),)
