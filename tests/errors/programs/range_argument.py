"""An argument that `ad.range` has not."""

import anadrome as ad


def program(x, n):
    for _ in ad.range(n, checkpoints=3):
        x = x * x
    return x


ARGUMENTS = (1.5, 3)
TRANSFORM = ad.grad
