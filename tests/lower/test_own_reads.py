"""Scatters that read what they write: in place where a place read is the iteration's own, or nobody's."""

from __future__ import annotations

import numpy as np
import pytest

from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import ParFor, Scatter
from anadrome.array_ir.own_reads import Knowledge
from anadrome.array_ir.text import parse
from anadrome.config import Config
from anadrome.kernel_ir.interp import run as run_kernel
from anadrome.lower.function import lower


def program(statements: str, at: str) -> str:
    return f"""fn f(x: f64[n, n], p: i64[n]) -> f64[n, n] {{
      m = sub n 1
      y = loop (a = x) for i < m {{
        k = add i 1
        b = parfor j < n {{ {statements}; yield scatter a[{at}] u }}
        return b
      }}
      return y
    }}"""


IN_PLACE = {
    "its own place": ("v = a[k, j]; u = mul v 2.0", "k, j"),
    "a row above": ("v = a[i, j]; w = a[k, j]; u = sub w v", "k, j"),
    "another row of it": ("q = p[j]; v = a[i, q]; u = mul v 2.0", "k, j"),
    "a row above a checked one": (
        'c = lt k n; check c index "{0} of {1}" k n; r = min k m; v = a[i, j]; w = a[r, j]; u = sub w v',
        "r, j",
    ),
    "a row above one that is 0 where its check fails": (
        'c = lt k n; check c index "{0} of {1}" k n; r = select c k 0; v = a[i, j]; w = a[r, j]; u = sub w v',
        "r, j",
    ),
}
COPIED = {
    "the next place": ("q = mod k n; v = a[k, q]; u = mul v 2.0", "k, j"),
    "a place of the row": ("q = p[j]; v = a[k, q]; u = mul v 2.0", "k, j"),
    "its place, written twice": ("q = p[j]; v = a[k, q]; u = mul v 2.0", "k, q"),
    "perhaps its row": ("q = p[i]; v = a[q, j]; w = a[k, j]; u = mul v w", "k, j"),
    "a row above a clamped one": ("r = min k m; v = a[i, j]; w = a[r, j]; u = sub w v", "r, j"),
    "a row above one that is perhaps 0": (
        'c = lt k n; check c index "{0} of {1}" k n; d = lt k 2; r = select d k 0; '
        "v = a[i, j]; w = a[r, j]; u = sub w v",
        "r, j",
    ),
    "all of it": ("q = sub m j; v = a[k]; w = v[q]; u = mul w 2.0", "k, j"),
}


def scatter_of(text: str):
    fn = parse(text)
    loop = fn.body.lets[1].expr
    found = next(let.expr for let in loop.body.lets if isinstance(let.expr, ParFor))
    (item,) = found.yields
    assert isinstance(item, Scatter)
    return fn, found, item.init


@pytest.mark.parametrize("name", [*IN_PLACE, *COPIED])
def test_what_may_work_in_place(name: str) -> None:
    fn, found, array = scatter_of(program(*{**IN_PLACE, **COPIED}[name]))
    assert Knowledge(fn).is_in_place(found, array) is (name in IN_PLACE)


@pytest.mark.parametrize("name", [*IN_PLACE, *COPIED])
def test_values_are_those_of_the_old_array(name: str) -> None:
    fn, *_ = scatter_of(program(*{**IN_PLACE, **COPIED}[name]))
    source = np.random.default_rng(4)
    x, p = source.uniform(-1, 1, (5, 5)), source.integers(0, 5, 5)
    wanted = reference(name, x, p)
    np.testing.assert_array_equal(run(fn, [x, p]).results[0], wanted)
    (found,) = run_kernel(lower(fn, Config()), [np.int64(5), x, p])
    np.testing.assert_array_equal(found, wanted)


def reference(name: str, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    a, n = x.copy(), len(x)
    for i in range(n - 1):
        old, k = a.copy(), i + 1
        for j in range(n):
            match name:
                case "its own place":
                    a[k, j] = old[k, j] * 2.0
                case "a row above one that is perhaps 0":
                    r = k if k < 2 else 0
                    a[r, j] = old[r, j] - old[i, j]
                case _ if name.startswith("a row above"):
                    a[k, j] = old[k, j] - old[i, j]
                case "another row of it":
                    a[k, j] = old[i, p[j]] * 2.0
                case "the next place":
                    a[k, j] = old[k, k % n] * 2.0
                case "a place of the row":
                    a[k, j] = old[k, p[j]] * 2.0
                case "its place, written twice":
                    a[k, p[j]] = old[k, p[j]] * 2.0
                case "perhaps its row":
                    a[k, j] = old[p[i], j] * old[k, j]
                case _:
                    a[k, j] = old[k, n - 1 - j] * 2.0
    return a


def test_work_is_that_of_the_places_written() -> None:
    fn = parse(program(*IN_PLACE["a row above"]))
    work = [run(fn, [np.ones((n, n)), np.zeros(n, np.int64)]).work.total / n**2 for n in (8, 16, 32)]
    assert max(work) <= 1.1 * min(work) + 2
