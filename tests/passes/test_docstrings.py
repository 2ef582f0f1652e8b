"""Each pass makes *After* of *Before*, as its docstring says."""

from __future__ import annotations

import importlib

import pytest
from documented import example
from oracle import PASSES, becomes


@pytest.mark.parametrize("name", PASSES)
def test_docstring(name: str) -> None:
    docstring = importlib.import_module(f"anadrome.passes.{name}").__doc__
    assert docstring is not None
    becomes(PASSES[name], *example(docstring))
