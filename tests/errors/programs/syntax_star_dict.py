"""** of something that is no dict, inside a dict."""

def program(x):
    options = {"a": x, **x}
    return options["a"]


ARGUMENTS = (1.0,)
