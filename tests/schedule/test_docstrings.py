"""Each rewrite makes *After* of *Before*, as its docstring says."""

from __future__ import annotations

import importlib

import pytest
from launching import config

from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.text import parse, show
from anadrome.schedule.cpu import schedule_cpu
from tests.passes.documented import example

WORKERS = {
    **dict.fromkeys(
        (
            "cpu",
            "atomics",
            "block",
            "warps",
            "narrow",
            "checks",
            "peephole",
            "lanes",
            "outer",
            "innermost",
            "running",
            "jam",
            "idioms",
            "fuse",
        ),
        1,
    ),
    "workers": 2,
}
"""Rewrite -> the workers of its example."""
VECTOR_BITS = {"lanes": 512, "outer": 512, "innermost": 256, "running": 256, "jam": 64}


@pytest.mark.parametrize("name", WORKERS)
def test_docstring(name: str) -> None:
    docstring = importlib.import_module(f"anadrome.schedule.{name}").__doc__
    assert docstring is not None
    before, after = map(parse, example(docstring))
    check(before)
    found = schedule_cpu(before, config(WORKERS[name]), VECTOR_BITS.get(name, 0)).function
    check(found)
    assert show(found) == show(after)


def test_a_program_without_launches_is_returned_as_it_is() -> None:
    fn = parse("fn f(x: f64) {\n  return x as f64\n}")
    assert schedule_cpu(fn, config(2)).function is fn
