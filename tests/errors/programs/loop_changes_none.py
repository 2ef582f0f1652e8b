"""None that becomes a number in a loop."""

import numpy as np


def program(x):
    best = None
    for value in x:
        if best is None or value > best:
            best = value
    return best


ARGUMENTS = (np.ones(20),)
