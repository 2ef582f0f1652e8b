"""unroll of a run-time range"""

import anadrome as ad


def program(x, n):
    for i in ad.unroll(range(n)):
        x = x * 2.0
    return x


ARGUMENTS = (1.0, 3)
