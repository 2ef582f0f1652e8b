"""class"""

def program(x):
    class Point:
        pass

    return x


ARGUMENTS = (1.0,)
