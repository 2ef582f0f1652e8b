"""An argument on the command line with a negative size."""

from anadrome.tools.from_file import parse_argument


def call():
    return parse_argument("f64[100,-3]")
