"""Points for a mixture, one of which is not a number."""

import numpy as np

from anadrome.tools.points import Problem


def call():
    return Problem("points.txt", np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, 0.0]]), 2)
