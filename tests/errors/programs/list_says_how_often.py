"""A list that grows in a `while` which reads all of it, and prints."""

def program(x):
    times = [x]
    while sum(times) < 50.0:
        times.append(2.0 * times[-1])
        print(times[-1])
    return times


ARGUMENTS = (1.0,)
