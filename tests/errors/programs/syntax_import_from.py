"""from … import"""

def program(x):
    from math import sin

    return sin(x)


ARGUMENTS = (1.0,)
