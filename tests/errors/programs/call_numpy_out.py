"""out="""

import numpy as np


def program(x):
    y = np.zeros(20)
    np.sin(x, out=y)
    return y


ARGUMENTS = (np.ones(20),)
