"""A list indexed by a run-time number."""

def program(i):
    weights = [1.0, 2.0, 3.0]
    return weights[i]


ARGUMENTS = (1,)
