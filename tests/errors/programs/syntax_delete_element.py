"""del of an element of an array"""

def program(x):
    y = x.copy()
    del y[0]
    return y


import numpy as np

ARGUMENTS = (np.ones(20),)
