"""A system whose Jacobian is singular."""

import anadrome as ad
import numpy as np


def program(a):
    return np.sum(ad.root(lambda x: np.array([x[0] + x[1] - a, 2.0 * x[0] + 2.0 * x[1] - a]), np.ones(2)))


ARGUMENTS = (1.0,)
