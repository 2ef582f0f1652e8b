"""An argument on the command line of more elements than an array can have."""

from anadrome.tools.from_file import parse_argument


def call():
    return parse_argument("f64[1000000000000,1000000000000]")
