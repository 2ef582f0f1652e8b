"""A string indexed by a run-time number."""

def program(i):
    return "abc"[i] == "a"


ARGUMENTS = (1,)
