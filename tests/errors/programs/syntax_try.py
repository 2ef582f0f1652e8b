"""try"""

def program(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


ARGUMENTS = (1.0,)
