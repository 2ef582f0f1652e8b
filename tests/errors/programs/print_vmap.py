"""print of a run-time value in a function that is mapped over rows"""
import anadrome as ad
import numpy as np

def row(x):
    print("x is", x)
    return x * x

def program(x):
    return ad.vmap(row)(x)


ARGUMENTS = (np.ones(20),)
