"""A matrix product whose inner sizes differ, found when it runs."""

import numpy as np


def program(a, b):
    return a @ b


ARGUMENTS = (np.ones((30, 40)), np.ones((30, 40)))
