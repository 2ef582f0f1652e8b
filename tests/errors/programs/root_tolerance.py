"""A tolerance below zero."""

import anadrome as ad


def call():
    return ad.root(lambda x: x - 1.0, 0.0, tolerance=-1.0)
