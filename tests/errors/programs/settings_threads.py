"""A setting with a value that it cannot have."""

import anadrome as ad


def call():
    return ad.Config(threads=-1)
