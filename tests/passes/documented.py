"""The examples in the passes' docstrings: *Before* and *After* as functions in IR text."""

from __future__ import annotations

import textwrap


def example(docstring: str) -> tuple[str, str]:
    """The two texts of a docstring, dedented."""
    _, rest = docstring.split("Before:\n", 1)
    before, after = rest.split("After:\n", 1)
    return textwrap.dedent(before), textwrap.dedent(after.split("\n\n", 1)[0])
