"""An array that becomes shorter in every iteration of a run-time loop."""

import numpy as np


def program(x, steps):
    values = x * 1.0
    for _ in range(steps):
        values = 0.5 * (values[1:] + values[:-1])
    return values[0]


ARGUMENTS = (np.ones(20), 3)
