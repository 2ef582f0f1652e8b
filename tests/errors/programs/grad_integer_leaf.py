"""A gradient by a dict that holds an integer."""

import anadrome as ad


def program(parameters):
    return parameters["scale"] * parameters["count"]


ARGUMENTS = ({"scale": 2.0, "count": 3},)
TRANSFORM = ad.grad
