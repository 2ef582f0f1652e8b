"""print to a file"""
import io

LOG = io.StringIO()

def program(x):
    print("x is", x, file=LOG)
    return x


ARGUMENTS = (1.0,)
