"""A tangent with its values at other places."""

import anadrome as ad
import numpy as np
import scipy.sparse as sp


def program(A):
    return A @ np.ones(20)


def call():
    other = sp.csr_array(np.eye(20)[::-1])
    return ad.jvp(program, (sp.csr_array(np.eye(20)),), (other,))
