"""Rows of nests in register tiles: of every number and length, and what is no such nest."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import becomes, same

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.passes.tiles import tiles

RNG = np.random.default_rng(4)


def nest(
    rows: str = "d", length: str = "add p 1", term: str = "mul v u", extra: str = "", add: str = "s"
) -> str:
    """total[p, q] += Σ_l w[p, l]·x[l, q], and what else a row does."""
    return f"""fn f(w: f64[d, n], x: f64[n, d], a: f64[d, d], start: f64[d, d]) -> f64[d, d] {{
      r = with_sum (total = start) {{
        t = parfor p < {rows} {{
          size = {length}
          column = parfor l1 < n {{
            c = w[p, l1]
            c1 = mul c 2.0
            yield stack c1
          }}
          t1 = parfor q < size lanes {{
            {extra}
            s = parfor l < n {{
              v = column[l]
              u = x[l, q]
              m = {term}
              yield reduce add m
            }}
            z = {"mul s 1.0" if add == "s" else add}
            b = add_to total[p, q] z
            yield carry total b
          }}
          yield carry total t1
        }}
        return t
      }}
      return r
    }}"""


def arguments(d: int, n: int = 5) -> tuple[np.ndarray, ...]:
    return (
        RNG.normal(size=(d, n)),
        RNG.normal(size=(n, d)),
        RNG.normal(size=(d, d)),
        RNG.normal(size=(d, d)),
    )


def tiled(text: str) -> Function:
    made = tiles(parse(text), Config())
    check(made)
    return made


@pytest.mark.parametrize("extra", ["", "e = a[p, q]", "e = a[q, q]"])
@pytest.mark.parametrize("length", ["add p 1", "sub d p", "add d 0", "min p 3"])
@pytest.mark.parametrize("d", [0, 1, 2, 3, 4, 5, 7, 8, 11])
def test_every_number_of_rows(d: int, length: str, extra: str) -> None:
    text = nest(length=length, extra=extra, add="mul s e" if extra else "s")
    args = arguments(d)
    made = tiled(text)
    assert "tile" in show(made)
    same(run(made, args).results, run(parse(text), args).results, 1e-14)


@pytest.mark.parametrize(
    ("rows", "tile"), [(2, 2), (3, 3), (5, 5), (7, 4), (10, 5), (12, 6), (16, 4), (18, 6)]
)
def test_rows_of_constant_number_fill_tiles_where_they_can(rows: int, tile: int) -> None:
    text = nest(str(rows))
    made = tiled(text)
    assert show(made).count("yield reduce add") == tile + (rows % tile > 0)
    args = arguments(rows)
    same(run(made, args).results, run(parse(text), args).results, 1e-14)


@pytest.mark.parametrize(
    "text",
    [
        nest(term="mul v v").replace("u = x[l, q]", ""),
        nest(extra="e = a[p, q]", term="mul v e"),
        nest().replace("u = x[l, q]", "u1 = a[p, q]\nu = mul u1 u1"),
        nest().replace(" lanes {", " {"),
        nest()
        .replace("size =", "total1 = add_to total[p, 0] 1.0\nsize =")
        .replace("add_to total[p, q]", "add_to total1[p, q]")
        .replace("carry total b", "carry total1 b"),
    ],
    ids=[
        "nothing is shared",
        "what only the row has, in the sum",
        "a read that others may not make",
        "no lanes",
        "a row adds before as well",
    ],
)
def test_what_stays_row_by_row(text: str) -> None:
    becomes(tiles, text, text)
