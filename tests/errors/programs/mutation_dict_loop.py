"""A dict written in a run-time loop."""

def program(x, n):
    table = {}
    for i in range(n):
        table["last"] = x * i
    return table


ARGUMENTS = (1.0, 5)
