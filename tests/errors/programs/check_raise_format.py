"""A raise with a run-time value in its message."""

import numpy as np


def program(x):
    for i in range(len(x)):
        if x[i] < 0.0:
            raise ArithmeticError(f"element {i} is {x[i]}")
    return np.sum(np.sqrt(x))


ARGUMENTS = (np.concatenate([np.ones(20), -np.ones(1)]),)
