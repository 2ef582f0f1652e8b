"""Random numbers from a state that is seeded inside."""

import numpy as np


def program(x):
    np.random.seed(0)
    return x + np.random.normal(size=x)


ARGUMENTS = (3,)
