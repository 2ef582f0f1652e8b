"""A list that grows in a `while` which it ends itself."""

def program(x):
    times = [x]
    while times[-1] < 5.0:
        times.append(2.0 * times[-1])
    return times


ARGUMENTS = (1.0,)
