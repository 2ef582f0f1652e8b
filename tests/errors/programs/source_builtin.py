"""A builtin has no Python text."""

import anadrome as ad


def call():
    return ad.jit(divmod)(7.0, 2.0)
