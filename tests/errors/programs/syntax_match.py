"""match"""

def program(x):
    match x:
        case 0.0:
            return 1.0
        case _:
            return x


ARGUMENTS = (1.0,)
