"""The examples in the passes' docstrings: *Before* and *After* as functions in IR text."""

from __future__ import annotations

import textwrap

from anadrome.array_ir.text import parse, show


def example(docstring: str) -> tuple[str, str]:
    """The two texts of a docstring, dedented."""
    _, rest = docstring.split("Before:\n", 1)
    before, after = rest.split("After:\n", 1)
    return textwrap.dedent(before), textwrap.dedent(after.split("\n\n", 1)[0])


def normal(text: str) -> str:
    """The text as the printer writes it."""
    return show(parse(text))
