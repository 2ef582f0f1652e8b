"""The time of day, which would be that of compiling."""

import time


def program(x):
    return x * time.time()


ARGUMENTS = (1.0,)
