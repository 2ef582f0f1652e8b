"""append in a comprehension"""

import numpy as np


def program(x):
    seen = []
    return sum(seen.append(value) or value for value in x)


ARGUMENTS = (np.ones(20),)
