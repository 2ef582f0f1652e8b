"""A variable of the function around it that is written under a run-time branch."""

def program(x):
    total = 0.0

    def add(value):
        nonlocal total
        if value > 0.0:
            total = total + value

    add(x)
    return total


ARGUMENTS = (1.0,)
