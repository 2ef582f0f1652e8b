"""Two equal lambdas on one line still have one meaning each."""

pair = (lambda x: x * 2.0, lambda x: x * 2.0)


def program(x):
    return pair[0](x) + pair[1](x) + "one"


ARGUMENTS = (1.0,)
