"""A variable of the function around it that is written."""

def program(x):
    total = 0.0

    def add(value):
        nonlocal total
        total = total + value

    add(x)
    return total


ARGUMENTS = (1.0,)
