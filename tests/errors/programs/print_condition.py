"""print in the condition of a run-time loop"""

def is_small(x):
    print("x is", x)
    return x < 10

def program(x):
    while is_small(x):
        x = x + 1
    return x


ARGUMENTS = (1.0,)
