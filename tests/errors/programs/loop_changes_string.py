"""A string that changes in a loop."""

def program(x, n):
    state = "start"
    for i in range(n):
        x = x * 2.0 if state == "start" else x
        state = "running"
    return x


ARGUMENTS = (1.0, 5)
