"""An integer or a float, as the condition falls."""

def program(x):
    if x > 0.0:
        y = x
    else:
        y = "none"
    return y


ARGUMENTS = (1.0,)
