"""A size whose number of bytes does not fit into 64 bits."""

import numpy as np


def program(n):
    return np.zeros((n, n))


ARGUMENTS = (2**40,)
