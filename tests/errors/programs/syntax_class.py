"""An attribute of a class that only the run knows."""

def program(x):
    class Point:
        start = x * 2.0

    return Point.start


ARGUMENTS = (1.0,)
