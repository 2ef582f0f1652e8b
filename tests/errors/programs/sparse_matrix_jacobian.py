"""A Jacobian by a sparse matrix."""

import anadrome as ad
import numpy as np
import scipy.sparse as sp


def program(A, x):
    return A @ x


TRANSFORM = ad.jacobian
ARGUMENTS = (sp.csr_array(np.eye(20)), np.ones(20))
