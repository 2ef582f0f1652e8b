"""An attribute of a class counts its instances."""


class Layer:
    count = 0

    def __init__(self, w):
        self.w = w
        Layer.count += 1


def program(x):
    layer = Layer(x)
    return layer.w**2


ARGUMENTS = (1.0,)
