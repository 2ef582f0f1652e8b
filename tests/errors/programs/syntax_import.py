"""import"""

def program(x):
    import math

    return math.sin(x)


ARGUMENTS = (1.0,)
