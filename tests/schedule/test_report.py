"""The plan in words, and what it says of operations and bytes."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config

import anadrome as ad
from anadrome.kernel_ir.nodes import Var
from anadrome.kernel_ir.text import parse
from anadrome.schedule.cpu import schedule_cpu
from anadrome.schedule.report import Plan


def plan(text: str, bits: int = 512) -> Plan:
    """The plan of a program on vectors of so many bits."""
    return schedule_cpu(parse(text), config(1), bits).plan


def loops(body: str) -> str:
    """A program of arrays x, y and k, and numbers n and m."""
    return f"""fn f(n: i64, m: i64, x: f64 buffer, k: i64 buffer) {{
      alloc y: f64 global [mul(n, m)]
      alloc s: f64 local [1]
      s[0] = 0.0
      {body}
      return y as f64 [n, m], s[0] as f64
    }}"""


WORDS = {
    "for i in 0 .. n sequential { y[i] = mul(x[i], 2.0) }": (
        "for i in 0 .. n: in lanes, 4 vectors of 8 at a time, the rest under a mask",
        "at most n operations, 8·n bytes read, 8·n bytes written",
    ),
    "for i in 0 .. n sequential { s[0] = add~(s[0], exp(x[i])) }": (
        "for i in 0 .. n: in lanes, 2 vectors of 8 at a time, the rest under a mask; "
        "each lane has a sum of its own for `s`",
        "at most 11·n operations, 8·n bytes read",
    ),
    "for i in 0 .. n sequential { s[0] = add(s[0], x[i]) }": (
        "for i in 0 .. n: in order, since the sum in `s` keeps its order",
        "at most n operations, 8·n bytes read",
    ),
    "for i in 1 .. n sequential { y[i] = mul(y[sub(i, 1)], x[i]) }": (
        "for i in 1 .. n: in order, since an iteration may reach what another one writes in `y`",
        "at most n - 1 operations, 16·n - 16 bytes read, 8·n - 8 bytes written",
    ),
    "for i in 0 .. n sequential { s[0] = add~(s[0], x[i]) y[i] = s[0] }": (
        "for i in 0 .. n: in order, 4 iterations at a time, which wait for `s` once",
        "at most n operations, 8·n bytes read, 8·n bytes written",
    ),
    "for i in 0 .. n parallel { for j in 0 .. m sequential { y[add(mul(i, m), j)] = sin(x[j]) } }": (
        "for i in 0 .. n: in order, since there are loops inside",
        "  for j in 0 .. m: in lanes, 2 vectors of 8 at a time, the rest under a mask",
        "at most 10·m·n operations, 8·m bytes read, 8·m·n bytes written",
    ),
    "for i in 0 .. n sequential { for j in 0 .. i sequential { s[0] = add(s[0], x[j]) } }": (
        "for i in 0 .. n: in order, since there are loops inside",
        "  for j in 0 .. i: in order, since the sum in `s` keeps its order",
        "at most n^2 - n operations, 8·n - 8 bytes read",
    ),
    "for i in 1 .. n sequential { for j in i .. n sequential { s[0] = add(s[0], x[j]) } }": (
        "for i in 1 .. n: in order, since there are loops inside",
        "  for j in i .. n: in order, since the sum in `s` keeps its order",
        "at most n^2 - 2·n + 1 operations, 8·n - 8 bytes read",
    ),
    "for i in 0 .. n sequential { y[k[i]] = x[i] y[k[i]] = x[add(i, 1)] }": (
        "for i in 0 .. n: in order, since an iteration may reach what another one writes in `y`",
        "at most 16·n bytes read, 16·n bytes written",
    ),
    "for i in 0 .. n sequential { y[mul(i, 3)] = x[0] y[add(mul(i, 3), 1)] = x[1] y[mul(i, 3)] = x[0] }": (
        "for i in 0 .. n: in lanes, 4 vectors of 8 at a time, the rest under a mask",
        "at most 16 bytes read, 16·n bytes written",
    ),
    "while { } test lt(s[0], 1.0) { s[0] = add(mul(s[0], 0.5), x[0]) }": (
        "while: in order, since it ends by what it computes",
        "at most 3·rounds operations, 8 bytes read",
        "where only the run knows `rounds`",
    ),
    "for i in 0 .. n sequential { print 0: i }": (
        "for i in 0 .. n: in order, since lanes do not run `print`",
    ),
}
"""Statements -> what is said of them."""


@pytest.mark.parametrize("body", WORDS)
def test_words(body: str) -> None:
    ending = '\nmessage "{0}"' if "print" in body else ""
    lines = str(plan(loops(body) + ending)).splitlines()
    assert lines[0] == "plan for vectors of 512 bits"
    assert [line.strip() for line in lines[1:]] == [words.strip() for words in WORDS[body]]


def test_narrow_vectors_and_none() -> None:
    body = loops("for i in 0 .. n sequential { y[i] = mul(x[i], 2.0) }")
    assert "4 vectors of 2 at a time, the rest one by one" in str(plan(body, 128))
    assert "in order, since there are no vectors" in str(plan(body, 64))


def test_workers_are_not_counted_twice() -> None:
    body = """for t in 0 .. workers threads {
      let lo: i64 = truncdiv(mul(t, n), workers)
      let hi: i64 = truncdiv(mul(add(t, 1), n), workers)
      for i in lo .. hi sequential { y[i] = exp(x[i]) }
    }"""
    found = plan(loops(body))
    amounts = found.nests[0].amounts
    sizes = found.sizes({_param(found, "n"): 1000}, 4)
    assert [sizes.of(form) for form in (amounts.operations, amounts.read, amounts.written)] == [
        10_000,
        8_000,
        8_000,
    ]


def _param(found: Plan, name: str) -> Var:
    forms = (nest.amounts.operations for nest in found.nests)
    atoms = (atom for form in forms for atom in form.variables())
    return next(atom for atom in atoms if isinstance(atom, Var) and atom.name == name)


# ---------------------------------------------------------------------------- programs
def weighted(x: np.ndarray, w: np.ndarray) -> float:
    """A sum that lanes may take in any order, and one that keeps its own."""
    total = 0.0
    for i in range(x.shape[0]):
        total += w[i] * x[i]
    return total + np.sum(np.exp(x) * w)


def test_a_program_names_its_lines() -> None:
    numbers = np.linspace(0.0, 1.0, 100)
    text = ad.show(ad.jit(weighted, config=ad.Config(threads=1)), numbers, numbers, stage="schedule")
    ordered = next(line for line in text.splitlines() if "keeps its order" in line)
    assert f"{__file__}:{weighted.__code__.co_firstlineno + 3} for i in 0 .. n" in ordered


def test_explain_sums_the_plan_up() -> None:
    numbers = np.linspace(0.0, 1.0, 1000)
    found = ad.explain(ad.jit(weighted, config=ad.Config(threads=1)), numbers, numbers).loops
    assert found is not None and found.is_all
    assert (found.in_lanes, found.threads, found.in_order) == (1, 0, 1)
    assert found.operations == 2 * 1000 + 12 * 1000
    assert (found.read, found.written) == (32_000, 0)
    assert str(found) in str(ad.explain(ad.jit(weighted, config=ad.Config(threads=1)), numbers, numbers))
