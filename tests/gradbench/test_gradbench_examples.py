"""Every example runs as a program of its own and says something."""

from __future__ import annotations

import importlib
import math
import re

import pytest

EXAMPLES = (
    "ba",
    "det",
    "gmm",
    "hello",
    "ht",
    "kmeans",
    "llsq",
    "lse",
    "lstm",
    "ode",
    "particle",
    "saddle",
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_main_prints_finite_numbers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module(name).main()
    words = capsys.readouterr().out
    numbers = [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", words)]
    assert numbers
    assert all(math.isfinite(number) for number in numbers)
    assert not re.search(r"\b(nan|inf)\b", words)
