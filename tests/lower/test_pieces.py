"""Arrays that are put together: piece after piece, and built in their place where nothing else reads them."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.config import Config
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import If, Space
from tests.lower.oracle import agree, lowered, statements_of

ONE_THREAD = Config(threads=1)
X, Y = np.arange(40.0) - 7.0, np.arange(30.0) * 3.0
A, B = np.arange(60.0).reshape(20, 3), np.arange(90.0).reshape(30, 3) - 20.0
MADE = "m = add n1 n; a = parfor i < n { v = x[i]; w = mul v 2.0; yield stack w };"
JOINED = "c = lt i n; v = if c { u = a[i]; return u } else { j = sub i n; w = y[j]; return w }"


def joined_at(border: str, first: str, rest: str) -> str:
    """An array that is made of the elements of one, then of others."""
    second = rest if rest.startswith("return") else f"j = sub i {border}; w = {rest}[j]; return w"
    return (
        f"z = parfor i < m {{ c = lt i {border}; v = if c {{ u = {first}[i]; return u }} "
        f"else {{ {second} }}; yield stack v }}; return z"
    )


CASES = {
    "two pieces": (f"{MADE} z = parfor i < m {{ {JOINED}; yield stack v }}; return z", "f64[m]", 1),
    "read once more": (
        f"{MADE} z = parfor i < m {{ {JOINED}; yield stack v }}; s = a[0]; q = z[0]; t = add s q; "
        "r = update z[1] t; return r",
        "f64[m]",
        2,
    ),
    "a result itself": (
        f"{MADE} z = parfor i < m {{ {JOINED}; yield stack v }}; return z, a",
        "f64[m], f64[n]",
        2,
    ),
    "changed on the way": (
        f"{MADE} z = parfor i < m {{ {JOINED}; o = add v 1.0; yield stack o }}; return z",
        "f64[m]",
        2,
    ),
    "with something else": (
        f"{MADE} z, q = parfor i < m {{ {JOINED}; o = to_f64 i; yield stack v; yield stack o }}; return z, q",
        "f64[m], f64[m]",
        3,
    ),
    "from another element": (
        f"{MADE} z = parfor i < m {{ c = lt i n; v = if c {{ k = sub n i; l = sub k 1; u = a[l]; return u }} "
        "else { j = sub i n; w = y[j]; return w }; yield stack v }; return z",
        "f64[m]",
        2,
    ),
    "the second piece": (
        "m = add n n1; a = parfor i < n1 { v = y[i]; w = mul v 2.0; yield stack w }; "
        f"{joined_at('n', 'x', 'a')}",
        "f64[m]",
        1,
    ),
    "both pieces": (
        f"{MADE} b = parfor i < n1 {{ v = y[i]; w = mul v 5.0; yield stack w }}; {joined_at('n', 'a', 'b')}",
        "f64[m]",
        1,
    ),
    "twice the same": (
        "m = mul n 2; a = parfor i < n { v = x[i]; w = mul v 2.0; yield stack w }; "
        f"{joined_at('n', 'a', 'a')}",
        "f64[m]",
        2,
    ),
    "three pieces, the one between computed": (
        "l = add n n1; m = add l n; a = parfor i < n { v = x[i]; w = mul v 2.0; yield stack w }; "
        "b = parfor i < n { v = x[i]; w = mul v 7.0; yield stack w }; "
        "z = parfor i < m { c = lt i n; v = if c { u = a[i]; return u } else { d = lt i l; "
        "e = if d { j = sub i n; w = y[j]; q = mul w w; return q } else { j = sub i l; w = b[j]; return w }; "
        "return e }; yield stack v }; return z",
        "f64[m]",
        1,
    ),
    "more room than the pieces fill": (
        "l = add n n1; m = add l 5; a = parfor i < n { v = x[i]; w = mul v 2.0; yield stack w }; "
        "z = parfor i < m { c = lt i n; v = if c { u = a[i]; return u } else { d = lt i l; "
        "e = if d { j = sub i n; w = y[j]; return w } else { return 1.0 }; return e }; "
        "yield stack v }; return z",
        "f64[m]",
        1,
    ),
    "a border that may be anywhere": (
        joined_at("k", "x", "return 1.0").replace("i < m", "i < n"),
        "f64[n]",
        1,
    ),
    "a part of an array": (
        "o = sub n 1; m = add o n1; a = parfor i < n { v = x[i]; w = mul v 2.0; yield stack w }; "
        f"{joined_at('o', 'a', 'y')}",
        "f64[m]",
        2,
    ),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_pieces(name: str, threads: int) -> None:
    body, kinds, arrays = CASES[name]
    text = f"fn f(x: f64[n], y: f64[n1], k: i64) -> {kinds} {{ {body} }}"
    config = Config(threads=threads)
    for k in (0, 1, 17, 39, 40, 41, -1, -(2**62), 2**62):
        agree(text, X, Y, k, config=config)
    agree(text, X[:1], Y, 0, config=config)
    if "a[0]" not in text:
        agree(text, X, Y[:0], 3, config=config)
    kernel = lowered(text, ONE_THREAD)
    heap = [one for one in statements_of(kernel, kernel_ir.Alloc) if one.buffer.space is Space.GLOBAL]
    assert len(heap) == arrays
    assert not statements_of(kernel, If)


ROWS = """fn f(x: f64[n, 3], y: f64[n1, 3]) -> f64[m, 3] {
  m = add n n1
  a = parfor i < n { r = parfor j < 3 { v = x[i, j]; w = mul v 2.0; yield stack w }; yield stack r }
  z = parfor i < m {
    c = lt i n
    r = parfor j < 3 {
      v = if c { u = a[i, j]; return u } else { k = sub i n; w = y[k, j]; return w }
      yield stack v
    }
    yield stack r
  }
  return z
}"""


def test_rows() -> None:
    for text, arrays in ((ROWS, 1), (ROWS.replace("u = a[i, j]", "o = sub 2 j; u = a[i, o]"), 2)):
        agree(text, A, B)
        agree(text, A[:0], B)
        agree(text, A, B[:0])
        kernel = lowered(text, ONE_THREAD)
        heap = [one for one in statements_of(kernel, kernel_ir.Alloc) if one.buffer.space is Space.GLOBAL]
        assert len(heap) == arrays


def test_a_side_of_a_row_is_left_alone() -> None:
    """A border that the loop itself computes says nothing of the iterations."""
    text = (
        "fn f(x: f64[n]) -> f64[n] { z = parfor i < n { v = x[i]; k = to_i64 v; c = lt i k; "
        "w = if c { return 1.0 } else { return v }; yield stack w }; return z }"
    )
    agree(text, X)
    assert statements_of(lowered(text, ONE_THREAD), If)


def joined(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Arrays put together at both axes, twice, and with what is computed on the way."""
    inner = np.concatenate((np.sin(x), y * x[0], x), axis=0)
    wide = np.concatenate((inner[:, :2], np.exp(-inner), inner), axis=1)
    return np.concatenate((wide.ravel(), y.ravel(), wide[0]))


@pytest.mark.parametrize("rows", [1, 2, 33, 200])
def test_python_programs(rows: int) -> None:
    random = np.random.default_rng(rows)
    x, y = random.normal(size=(rows, 3)), random.normal(size=(rows + 40, 3))
    found = ad.jit(joined)(x, y)
    np.testing.assert_allclose(found, joined(x, y), rtol=1e-13)
    ad.check_grads(joined, (x, y))
