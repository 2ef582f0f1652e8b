"""append in a run-time branch"""

def program(x):
    found = []
    if x > 0.0:
        found.append(x)
    return found


ARGUMENTS = (1.0,)
