"""with"""

import numpy as np


def program(x):
    with np.errstate(divide="ignore"):
        return 1.0 / x


ARGUMENTS = (1.0,)
