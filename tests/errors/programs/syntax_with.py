"""A context manager that does something."""

import contextlib


def program(x):
    with contextlib.suppress(ValueError):
        x = x + 1.0
    return x


ARGUMENTS = (1.0,)
