"""An index that becomes a float in a loop."""

import numpy as np


def program(xs):
    k = 0
    total = 0.0
    for x in xs:
        total = total + xs[k]
        k = k + x
    return total


ARGUMENTS = (np.ones(20),)
