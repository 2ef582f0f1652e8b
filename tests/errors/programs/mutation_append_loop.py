"""append in a run-time loop that looks at the list it fills"""

def program(x, n):
    history = []
    for i in range(n):
        x = x * 0.5 + len(history)
        history.append(x)
    return history


ARGUMENTS = (1.0, 5)
