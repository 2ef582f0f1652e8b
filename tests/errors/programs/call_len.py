"""len of a number"""

def program(x):
    return len(x)


ARGUMENTS = (1.0,)
