"""sorted of a run-time array"""

import numpy as np


def program(x):
    return sorted(x)


ARGUMENTS = (np.ones(20),)
