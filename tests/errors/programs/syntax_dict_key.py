"""A run-time key of a dict."""

def program(x):
    table = {x: 1.0}
    return table


ARGUMENTS = (1,)
