"""A data file with fewer numbers than its sizes say."""

from pathlib import Path

from anadrome.tools.points import read_adbench


def call():
    return read_adbench(Path(__file__).with_name("tool_data_short.txt"))
