"""A string that grows in a loop."""

def program(x, n):
    marks = ""
    for i in range(n):
        marks = marks + "."
    return x


ARGUMENTS = (1.0, 5)
