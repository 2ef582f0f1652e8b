"""A dict indexed by a run-time number."""

def program(i):
    weights = {0: 1.0, 1: 2.0}
    return weights[i]


ARGUMENTS = (1,)
