"""del of an element"""

def program(x):
    values = [x, x * 2.0]
    del values[0]
    return values


ARGUMENTS = (1.0,)
