"""A named operator that would take the parts of complex numbers for numbers of their own."""

import numpy as np

import anadrome as ad


def program(z):
    return ad.reduce("mul", z)


ARGUMENTS = (np.ones(30, dtype=complex),)
