"""An assertion that is known to fail while compiling."""

def program(x, degree="three"):
    assert degree in ("one", "two"), "degree is one or two"
    return x


ARGUMENTS = (1.0,)
