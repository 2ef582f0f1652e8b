"""print in a function that is called for every item at the same time"""
import anadrome as ad
import numpy as np

def twice(x):
    print("x is", x)
    return 2 * x

def program(x):
    return ad.map(twice, x)


ARGUMENTS = (np.ones(20),)
