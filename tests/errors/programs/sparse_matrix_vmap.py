"""A sparse matrix mapped over."""

import anadrome as ad
import numpy as np
import scipy.sparse as sp


def program(A, x):
    return A @ x


TRANSFORM = ad.vmap
ARGUMENTS = (sp.csr_array(np.eye(20)), np.ones((5, 20)))
