"""A sparse derivative that is mapped over rows."""

import numpy as np

import anadrome as ad


def squares(x):
    return x * x


def call():
    return ad.vmap(ad.jacobian(squares, sparse=True))(np.ones((2, 3)))
