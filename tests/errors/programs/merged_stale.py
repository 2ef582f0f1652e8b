"""A list may be one that was changed after it was chosen."""

def program(x):
    first, second = [1.0, 2.0], [3.0, 4.0]
    chosen = first if x > 0.0 else second
    first[0] = x
    return chosen[0]


ARGUMENTS = (1.0,)
