"""An attribute of an object from outside is written."""

class Model:
    scale = 1.0


model = Model()


def program(x):
    model.scale = x
    return x


ARGUMENTS = (1.0,)
