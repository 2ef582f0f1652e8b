"""An array that was donated to a call before."""

import anadrome as ad
import numpy as np


def program(state, rate):
    return state * (1.0 - rate)


def call():
    step = ad.jit(program, donate_argnums=0)
    state = np.ones(100)
    step(state, 0.1)
    return step(state, 0.1)
