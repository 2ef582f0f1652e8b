"""An error in a method."""

class Model:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return x * self.scael


program = Model(2.0)
ARGUMENTS = (1.0,)
