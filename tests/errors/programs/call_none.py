"""None that is called."""

activation = None


def program(x):
    return activation(x)


ARGUMENTS = (1.0,)
