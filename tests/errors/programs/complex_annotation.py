"""A complex array where the annotation says a real one."""

import numpy as np

import anadrome as ad


def program(x: ad.f64["n"]):
    return x * 2


ARGUMENTS = (np.ones(3, dtype=complex),)
