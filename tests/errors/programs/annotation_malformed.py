"""An annotation with a dimension that is neither a name nor a size."""

import anadrome as ad


def call():
    def program(x: ad.f64["n", -1]):
        return x
