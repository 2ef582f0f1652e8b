"""A key of a dict that may be new."""

def program(x):
    weights = {"low": 1.0}
    weights["high" if x > 2.0 else "low"] = x
    return weights["low"]


ARGUMENTS = (1.0,)
