"""A table that is filled row by row, each row from the one before, differentiated three times."""

import numpy as np

import anadrome as ad


def filled(x):
    """The last row of a table of five."""
    n = x.shape[0]
    rows = np.zeros((5, n))
    rows[0] = x
    for i in range(1, 5):
        for j in range(n):
            rows[i, j] = np.sin(rows[i - 1, j]) * rows[i - 1, (j + 1) % n]
    return rows[4]


def arguments():
    return (np.linspace(0.1, 0.7, 4),)


third = ad.jacrev(ad.jacrev(ad.jacrev(filled)))
