"""A list is changed of which only the run knows which one it is."""

def program(x):
    first, second = [1.0, 2.0], [3.0, 4.0]
    chosen = first if x > 0.0 else second
    chosen[0] = x
    return first[0] + second[0]


ARGUMENTS = (1.0,)
