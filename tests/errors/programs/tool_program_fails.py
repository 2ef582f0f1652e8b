"""A file named on the command line that fails when it is imported."""

from pathlib import Path

from anadrome.tools.from_file import load_function


def call():
    return load_function(f"{Path(__file__).with_name('tool_program_fails.txt')}:cost")
