"""A gradient of a number."""

import anadrome as ad


def call():
    return ad.grad(3.0)
