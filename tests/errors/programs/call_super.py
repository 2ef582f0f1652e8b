"""`super()` in a function inside a method."""


class Base:
    def __init__(self, scale):
        self.scale = scale

    def value(self, x):
        return self.scale * x


class Derived(Base):
    def value(self, x):
        def inner():
            return super().value(x)

        return inner()


def program(x):
    return Derived(x).value(2.0)


ARGUMENTS = (1.0,)
