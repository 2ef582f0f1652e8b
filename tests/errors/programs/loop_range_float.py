"""range of a float"""

def program(x):
    total = 0.0
    for i in range(x):
        total += i
    return total


ARGUMENTS = (3.0,)
