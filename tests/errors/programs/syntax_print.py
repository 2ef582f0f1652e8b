"""print of a run-time value"""

def program(x):
    print("x is", x)
    return x


ARGUMENTS = (1.0,)
