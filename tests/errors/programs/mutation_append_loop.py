"""append in a run-time loop"""

def program(x, n):
    history = []
    for i in range(n):
        x = x * 0.5
        history.append(x)
    return history


ARGUMENTS = (1.0, 5)
