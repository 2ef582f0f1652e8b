"""** of something that is no dict."""

def scale(x, factor):
    return x * factor


def program(x):
    return scale(x, **[("factor", x)])


ARGUMENTS = (1.0,)
