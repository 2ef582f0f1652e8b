"""An integer that becomes a float in a loop."""

import numpy as np


def program(xs):
    total = 0
    for x in xs:
        total = total + x
    return total


ARGUMENTS = (np.ones(20),)
