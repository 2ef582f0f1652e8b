"""An assertion that fails under grad."""

import anadrome as ad
import numpy as np


def program(x):
    assert np.all(x > 0.0), "all elements must be positive"
    return np.sum(np.log(x))


ARGUMENTS = (-np.ones(20),)
TRANSFORM = ad.grad
