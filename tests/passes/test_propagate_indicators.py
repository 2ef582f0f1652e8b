"""Brackets put where they are read: how much is copied on the way."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from oracle import same

from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function, Let
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.passes.propagate_indicators import propagate_indicators


def chain(count: int) -> Function:
    """A parfor of `count` yields, of which each reads two statements of its own and one that all read."""
    lets = ["c = eq j k", "v = bracket c 1.0"]
    lets += [f"w{n} = mul v {n + 2}.0; x{n} = sin w{n}" for n in range(count)]
    lets += [f"yield stack x{n}" for n in range(count)]
    names = [f"e{n}" for n in range(count)]
    head = "fn f(a: f64[n], k: i64) {\n"
    text = f"{head} {', '.join(names)} = parfor j < n {{ {'; '.join(lets)} }}\n return {', '.join(names)}\n}}"
    return parse(text)


def copied(fn: Function, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many statements the pass copies."""
    seen: Counter[str] = Counter()
    original = Renaming.let

    def counting(self: Renaming, let: Let) -> Let:
        seen["lets"] += 1
        return original(self, let)

    with monkeypatch.context() as patch:
        patch.setattr(Renaming, "let", counting)
        propagate_indicators(fn, Config())
    return seen["lets"]


@pytest.mark.interpreted
def test_each_yield_takes_along_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [copied(chain(size), monkeypatch) for size in (10, 20, 40)]
    assert counts == [30, 60, 120]


def test_what_is_copied_computes_the_same() -> None:
    fn = chain(5)
    for k in (-1, 0, 3, 4):
        args = (np.zeros(4), k)
        same(run(propagate_indicators(fn, Config()), args).results, run(fn, args).results)
    assert show(propagate_indicators(fn, Config())).count("sin") == 5
