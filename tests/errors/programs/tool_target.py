"""A function named on the command line whose file is not there."""

from anadrome.tools.from_file import load_function


def call():
    return load_function("missing.py:cost")
