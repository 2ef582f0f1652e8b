"""Two strings of which only the run knows which they are, put in order."""

def program(x):
    kind = "low" if x < 1.0 else "high"
    other = "low" if x < 2.0 else "high"
    return x if kind < other else -x


ARGUMENTS = (1.0,)
