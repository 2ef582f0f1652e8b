"""An array that is written inside a comprehension."""

import numpy as np


def program(x):
    y = np.zeros(20)

    def put(i):
        y[i] = x[i]
        return y[i]

    return sum(put(i) for i in range(20))


ARGUMENTS = (np.ones(20),)
