"""An iterator that is read after a loop over it by way of another one was left early."""

import numpy as np


def program(x):
    items = iter(x)
    first = 0.0
    for k, v in enumerate(items):
        if v > 1.5:
            first = v * k
            break
    return first + sum(items)


ARGUMENTS = (np.arange(9.0),)
