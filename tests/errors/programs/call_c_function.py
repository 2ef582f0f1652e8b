"""A C function with a run-time argument."""

import time


def program(x):
    time.sleep(x)
    return x


ARGUMENTS = (0.0,)
