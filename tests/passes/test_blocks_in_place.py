"""Blocks that a loop writes: where they lie if the nest reads nothing it has written, else as they are."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import same

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Loop
from anadrome.array_ir.text import parse
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.kernel_ir.interp import run as run_kernel
from anadrome.lower.function import lower
from anadrome.passes.blocks_in_place import blocks_in_place


def program(
    row: str = "", element: str = "v = a[p, q]; u = mul v 2.0", behind: str = "", place: str = "add i s"
) -> str:
    """Blocks from row and column k + 1 on of n x n; `row`: statements of a row, in front of its elements."""
    return f"""fn f(x: f64[n, n], m: i64, g: i64[n]) -> f64[n, n] {{
      y = loop (a = x) for k < m {{
        s = add k 1
        l = sub n s
        b = parfor i < l {{
          p = {place}
          r = a[p]
          {row}
          c = parfor j < l {{
            q = add j s
            {element}
            yield scatter r[q] u
          }}
          {behind}
          yield scatter a[p] c
        }}
        return b
      }}
      return y
    }}"""


IN_PLACE = {
    "its own element": program(),
    "the pivot's row": program(element="v = a[p, q]; w = a[k, q]; u = sub v w"),
    "the pivot's column": program(element="v = a[p, k]; w = a[p, q]; u = sub w v"),
    "an element of its row": program(element="v = r[q]; w = r[s]; u = sub v w"),
    "its row, before": program(
        "t = parfor h < n { v = a[p, h]; yield reduce add v }", "v = a[p, q]; u = sub v t"
    ),
    "a corner, behind": program(behind="z = a[k, k]"),
    "from below": program(place="sub n i; p = sub p1 1").replace("p = sub n i", "p1 = sub n i"),
}
AS_IT_IS = {
    "the element before": program(element="h = add j k; v = a[p, h]; u = mul v 2.0"),
    "the row above": program(element="h = add i k; v = a[h, q]; u = mul v 2.0"),
    "the element across": program(element="v = a[q, p]; u = mul v 2.0"),
    "a row that data name": program(element="h = g[i]; v = a[h, q]; u = mul v 2.0"),
    "places that data name": program(place="g[i]"),
    "its row, turned": program(element="h = sub n j; h1 = sub h 1; v = a[p, h1]; u = mul v 2.0"),
    "its row, in each iteration": program(
        element="t = parfor h < n { v = a[p, h]; yield reduce add v }; u = mul t 0.1"
    ),
    "all of its row": program("e = a[k]", "v = e[q]; u = mul v 2.0").replace("e = a[k]", "e = a[p]"),
    "another row of the block, before": program("t = a[s, s]", "v = a[p, q]; u = sub v t"),
}


def loops(text: str) -> int:
    fn = blocks_in_place(parse(text), Config())
    check(fn)
    return sum(isinstance(let.expr, Loop) for let in all_lets(fn.body))


@pytest.mark.parametrize("name", [*IN_PLACE, *AS_IT_IS])
def test_what_is_written_where_it_lies(name: str) -> None:
    assert loops({**IN_PLACE, **AS_IT_IS}[name]) == 1 + (name in IN_PLACE)


@pytest.mark.parametrize("name", [*IN_PLACE, *AS_IT_IS])
def test_values_are_those_of_the_nest(name: str) -> None:
    before = parse({**IN_PLACE, **AS_IT_IS}[name])
    after = blocks_in_place(before, Config())
    source = np.random.default_rng(3)
    x, places = source.uniform(-1, 1, (6, 6)), source.permutation(6)
    for trips in (0, 1, 5):
        args = [x, np.int64(trips), places]
        wanted = run(before, args).results
        same(run(after, args).results, wanted)
        same(run_kernel(lower(after, Config()), [np.int64(6), x, np.int64(trips), places]), wanted)


def test_a_block_is_not_copied_in_an_iteration() -> None:
    """Elements that are moved grow with blocks, not with rows or arrays times iterations."""
    text = program(element="v = a[p, q]; w = a[k, q]; u = sub v w")
    args = [np.ones((40, 40)), np.int64(39), np.arange(40)]
    before, after = run(parse(text), args).work, run(blocks_in_place(parse(text), Config()), args).work
    assert after.writes < before.writes / 1.2
