"""A list that is changed after a branch has chosen between it and one of another length."""

def program(x):
    known = [1.0, x]
    chosen = known if x > 0.5 else [x, x, x]
    known[0] = 3.0
    return sum(chosen)


ARGUMENTS = (1.0,)
