"""Kernels of the IR's text, and programs of them that have no races, with what NumPy makes of the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.errors import Span
from anadrome.kernel_ir.check import check_kernel
from anadrome.kernel_ir.nodes import Kernel
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import kernels, statements

AT = "at nx ny nz, dx dy dz, gx gy gz, tx ty tz, bytes"
"""Names of the geometry: grid, block, block index, thread index, bytes of shared memory."""

INDEX = "let i: i64 = add(mul(gx, dx), tx)"


def kernel(params: str, body: str, failures: str = "") -> Kernel:
    """The kernel `k` with these parameters and this body; its statements stand in lines 1, 2, … of `k.py`."""
    names = ", ".join(param.partition(":")[0] for param in params.split(";"))
    given = params.replace(";", ",")
    plain = ", ".join(param.partition("[")[0] for param in params.split(";"))
    host = f"fn main({plain}) {{ launch k [1, 1, 1] [1, 1, 1] [0] ({names}) return }}"
    (found,) = kernels(parse(f"kernel k({given}) {AT} {{ {body} }} {failures} {host}"))
    check_kernel(found)
    for line, stmt in enumerate(statements(found.body), start=1):
        if hasattr(stmt, "span"):
            stmt.span = Span("k.py", line, 2, 9)
    return found


@dataclass(frozen=True)
class Program:
    """A launch, and what its arrays are after it."""

    params: str
    body: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    args: tuple[Any, ...]
    expected: Callable[..., tuple[Any, ...]]
    shared: int = 0


def drawn(*shape: int) -> Any:
    """Whole numbers as floats, so that sums do not depend on their order."""
    return np.random.default_rng(3).integers(-9, 10, shape).astype(float)


def _threads(body: str) -> str:
    return f"{INDEX} if lt(i, n) {{ {body} }}"


def _halves(combine: str) -> str:
    """A loop that adds the second half of `s` to the first until one element is left."""
    return f"""
    alloc h: i64 local [1]
    h[0] = truncdiv(dx, 2)
    while {{ let go: bool = gt(h[0], 0) }} test go {{
      if lt(tx, h[0]) {{ {combine} }}
      barrier
      h[0] = truncdiv(h[0], 2)
    }}"""


_BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
"""In the order of the program below."""


def _stencil(x: Any) -> Any:
    return np.pad(x, 1)[:-2] + np.pad(x, 1)[2:] - 2 * x


RACE_FREE: dict[str, Program] = {
    "axpy": Program(
        "n: i64; a: f64; x: f64 buffer [n]; y: f64 buffer [n]",
        _threads("y[i] = add(y[i], mul(a, x[i]))"),
        (4, 1, 1),
        (32, 1, 1),
        (100, 2.0, drawn(100), np.ones(100)),
        lambda n, a, x, y: (x, y + a * x),
    ),
    "an early return": Program(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        f"""{INDEX} let out: bool = ge(i, n)
        if out {{ }} else {{ let v: f64 = x[i] if gt(v, 0.0) {{ y[i] = v }} else {{ y[i] = neg(v) }} }}""",
        (3, 1, 1),
        (16, 1, 1),
        (40, drawn(40), np.zeros(40)),
        lambda n, x, y: (x, abs(x)),
    ),
    "three dimensions": Program(
        "a: i64; b: i64; c: i64; x: i64 buffer [a, b, c] by [1, a, mul(a, b)]; y: i64 buffer [a, b, c]",
        """let i: i64 = add(mul(gx, dx), tx) let j: i64 = add(mul(gy, dy), ty)
        let k: i64 = add(mul(gz, dz), tz)
        if and(lt(i, a), and(lt(j, b), lt(k, c))) {
          y[i, j, k] = add(x[i, j, k], mul(100, add(mul(nx, 100), add(mul(ny, 10), nz))))
        }""",
        (3, 2, 2),
        (2, 3, 2),
        (5, 6, 3, np.arange(90), np.zeros((5, 6, 3), dtype=int)),
        lambda a, b, c, x, y: (x, x.reshape(c, b, a).transpose() + 32200),
    ),
    "a block reduction": Program(
        "x: f64 buffer; y: f64 buffer",
        f"""alloc s: f64 shared [64] {INDEX} s[tx] = x[i] barrier
        {_halves("s[tx] = add(s[tx], s[add(tx, h[0])])")}
        if eq(tx, 0) {{ y[gx] = s[0] }}""",
        (5, 1, 1),
        (64, 1, 1),
        (drawn(320), np.zeros(5)),
        lambda x, y: (x, x.reshape(5, 64).sum(1)),
    ),
    "a reduction of the whole grid by an atomic": Program(
        "n: i64; x: f64 buffer [n]; y: f64 buffer",
        f"""alloc s: f64 shared [32] {INDEX}
        if lt(i, n) {{ s[tx] = x[i] }} else {{ s[tx] = 0.0 }} barrier
        {_halves("s[tx] = add(s[tx], s[add(tx, h[0])])")}
        if eq(tx, 0) {{ atomic add y[0] = s[0] }}""",
        (4, 1, 1),
        (32, 1, 1),
        (111, drawn(111), np.zeros(1)),
        lambda n, x, y: (x, [x.sum()]),
    ),
    "a scan by shuffles": Program(
        "x: f64 buffer; y: f64 buffer",
        f"""{INDEX} let lane: i64 = mod(tx, 32)
        alloc v: f64 local [1] alloc d: i64 local [1]
        v[0] = x[i] d[0] = 1
        while {{ }} test lt(d[0], 32) {{
          warp up 4294967295, v[0], d[0] -> w: f64
          if ge(lane, d[0]) {{ v[0] = add(v[0], w) }}
          d[0] = mul(d[0], 2)
        }}
        y[i] = v[0]""",
        (2, 1, 1),
        (96, 1, 1),
        (drawn(192), np.zeros(192)),
        lambda x, y: (x, x.reshape(6, 32).cumsum(1).reshape(-1)),
    ),
    "shuffles in a partial warp": Program(
        "x: i64 buffer; a: i64 buffer; b: i64 buffer; c: i64 buffer; d: i64 buffer",
        """let i: i64 = add(tx, mul(ty, dx))
        warp shuffle 4294967295, x[i], 5 -> v: i64 a[i] = v
        warp down -1, x[i], 3 -> w: i64 b[i] = w
        warp xor -1, x[i], 1 -> u: i64 c[i] = u
        warp up -1, x[i], 2 -> q: i64 d[i] = q""",
        (1, 1, 1),
        (5, 8, 1),
        (np.arange(40) * 10, *np.zeros((4, 40), dtype=int)),
        lambda x, *_: (
            x,
            [50] * 32 + [370] * 8,
            [*range(30, 320, 10), 290, 300, 310, *range(350, 400, 10), 370, 380, 390],
            (np.arange(40) ^ 1) * 10,
            [0, 10, *range(0, 300, 10), 320, 330, *range(320, 380, 10)],
        ),
    ),
    "votes": Program(
        "x: i64 buffer; y: i64 buffer [40, 3]",
        """let holds: bool = gt(x[tx], 3)
        warp ballot -1, holds -> v: i64
        warp any -1, holds -> w: bool
        warp all -1, holds -> u: bool
        y[tx, 0] = v y[tx, 1] = to_i64(w) y[tx, 2] = to_i64(u)""",
        (1, 1, 1),
        (40, 1, 1),
        (np.array([7] * 3 + [0] * 28 + [9] * 9), np.zeros((40, 3), dtype=int)),
        lambda x, y: (x, [[7 + 2**31, 1, 0]] * 32 + [[255, 1, 1]] * 8),
    ),
    "divergent warps": Program(
        "x: i64 buffer; y: i64 buffer",
        """alloc k: i64 local [1] k[0] = 0 y[tx] = 0
        while { } test lt(k[0], add(mod(tx, 3), 1)) {
          if eq(mod(tx, 2), 0) {
            warp ballot 1431655765, true -> a: i64
            y[tx] = add(y[tx], a)
          } else {
            warp ballot 2863311530, true -> b: i64
            y[tx] = add(y[tx], b)
          }
          k[0] = add(k[0], 1)
        }
        warp shuffle -1, y[tx], 0 -> first: i64
        y[tx] = sub(y[tx], first)""",
        (1, 1, 1),
        (6, 1, 1),
        (np.zeros(6), np.zeros(6, dtype=int)),
        lambda x, y: (x, _divergent()),
    ),
    "warps that wait for themselves": Program(
        "x: f64 buffer; y: f64 buffer",
        """alloc s: f64 shared [64] alloc d: i64 local [1] alloc v: f64 local [1]
        s[tx] = x[tx] warp sync -1
        d[0] = 16
        while { } test gt(d[0], 0) {
          v[0] = add(s[tx], s[bitxor(tx, d[0])])
          warp sync -1
          s[tx] = v[0]
          warp sync -1
          d[0] = truncdiv(d[0], 2)
        }
        y[tx] = s[tx]""",
        (1, 1, 1),
        (64, 1, 1),
        (drawn(64), np.zeros(64)),
        lambda x, y: (x, x.reshape(2, 32).sum(1).repeat(32)),
    ),
    "a histogram with shared bins": Program(
        "n: i64; x: i64 buffer [n]; y: i64 buffer",
        f"""alloc s: i64 shared [8]
        if lt(tx, 8) {{ s[tx] = 0 }} barrier
        {_threads("atomic add s[x[i]] = 1")} barrier
        if lt(tx, 8) {{ atomic add y[tx] = s[tx] }}""",
        (4, 1, 1),
        (16, 1, 1),
        (60, np.arange(60) ** 2 % 8, np.zeros(8, dtype=int)),
        lambda n, x, y: (x, np.bincount(x, minlength=8)),
    ),
    "a transpose by tiles": Program(
        "n: i64; m: i64; x: f64 buffer [n, m]; y: f64 buffer [m, n]",
        """alloc tile: f64 shared [4, 5] [20]
        let i: i64 = add(mul(gy, 4), ty) let j: i64 = add(mul(gx, 4), tx)
        if and(lt(i, n), lt(j, m)) { tile[ty, tx] = x[i, j] }
        barrier
        let k: i64 = add(mul(gx, 4), ty) let l: i64 = add(mul(gy, 4), tx)
        if and(lt(k, m), lt(l, n)) { y[k, l] = tile[tx, ty] }""",
        (3, 2, 1),
        (4, 4, 1),
        (7, 10, drawn(7, 10), np.zeros((10, 7))),
        lambda n, m, x, y: (x, x.T),
    ),
    "steps of a stencil in global memory": Program(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        """alloc v: f64 local [1]
        for k in 0 .. 3 sequential {
          v[0] = mul(-2.0, x[tx])
          if gt(tx, 0) { v[0] = add(v[0], x[sub(tx, 1)]) }
          if lt(add(tx, 1), n) { v[0] = add(v[0], x[add(tx, 1)]) }
          barrier
          x[tx] = v[0]
          barrier
        }""",
        (1, 1, 1),
        (40, 1, 1),
        (40, drawn(40), np.zeros(40)),
        lambda n, x, y: (_stencil(_stencil(_stencil(x))), y),
    ),
    "barriers that count": Program(
        "x: i64 buffer; y: i64 buffer [3, 3]",
        """let i: i64 = add(mul(gx, dx), tx) let holds: bool = gt(x[i], 4)
        barrier: count holds -> c: i64
        barrier: and holds -> a: bool
        barrier: or holds -> o: bool
        if eq(tx, 0) { y[gx, 0] = c y[gx, 1] = to_i64(a) y[gx, 2] = to_i64(o) }""",
        (3, 1, 1),
        (5, 1, 1),
        (np.array([5, 6, 7, 8, 9] + [1] * 5 + [1, 9, 1, 9, 1]), np.zeros((3, 3), dtype=int)),
        lambda x, y: (x, [[5, 1, 1], [0, 0, 0], [2, 0, 1]]),
    ),
    "old values of atomics": Program(
        "n: i64; k: i64 buffer; y: i64 buffer [n]; z: bool buffer",
        f"""{INDEX} atomic add k[0] = 1 -> place: i64
        atomic exchange z[place] = true -> was: bool
        if not(was) {{
          atomic or y[place] = shl(1, mod(place, 8)) -> none: i64
          y[place] = sub(y[place], none)
        }}
        """,
        (4, 1, 1),
        (10, 1, 1),
        (40, np.zeros(1, dtype=int), np.zeros(40, dtype=int), np.zeros(40, dtype=bool)),
        lambda n, k, y, z: ([40], 2 ** (np.arange(40) % 8), np.ones(40, dtype=bool)),
    ),
    "every atomic of integers": Program(
        "x: i32 buffer; y: i32 buffer",
        """let v: i32 = x[tx]
        atomic add y[0] = v atomic sub y[1] = v atomic min y[2] = v atomic max y[3] = v
        atomic and y[4] = v atomic or y[5] = v atomic xor y[6] = v""",
        (1, 1, 1),
        (9, 1, 1),
        (np.array([9, 3, 5, 7, 1, 90, 11, 13, -5]), np.array([0, 0, 0, 0, -1, 0, 0])),
        lambda x, y: (x, [x.sum(), -x.sum(), x.min(), x.max(), *(f.reduce(x) for f in _BITS)]),
    ),
    "atomics of floats that meet NaN": Program(
        "x: f32 buffer; y: f32 buffer",
        "atomic min y[0] = x[tx] atomic max y[1] = x[tx] atomic max y[2] = nan:f32",
        (1, 1, 1),
        (5, 1, 1),
        (np.array([2.0, np.nan, -3.0, np.nan, 9.0]), np.array([np.nan, 1.0, 5.0])),
        lambda x, y: (x, [-3.0, 9.0, 5.0]),
    ),
    "atomics of bools": Program(
        "x: bool buffer; y: bool buffer",
        """atomic and y[0] = x[tx] atomic or y[1] = x[tx] atomic xor y[2] = x[tx]
        atomic min y[3] = x[tx] atomic max y[4] = x[tx]""",
        (1, 1, 1),
        (3, 1, 1),
        (np.array([True, True, False]), np.array([True, False, True, True, False])),
        lambda x, y: (x, [False, True, True, False, True]),
    ),
    "a maximum by compare and swap": Program(
        "x: f64 buffer; y: f64 buffer",
        """alloc seen: f64 local [1] alloc done: bool local [1] done[0] = false
        seen[0] = -inf
        while { } test not(done[0]) {
          atomic compare y[0] = max(seen[0], x[tx]) if seen[0] -> old: f64
          done[0] = eq(old, seen[0])
          seen[0] = old
        }""",
        (1, 1, 1),
        (20, 1, 1),
        (drawn(20), np.full(1, -np.inf)),
        lambda x, y: (x, [x.max()]),
    ),
    "dynamic shared memory": Program(
        "x: f64 buffer; y: f64 buffer",
        f"""let m: i64 = truncdiv(bytes, 8) alloc s: f64 shared [m] [m]
        {INDEX} s[tx] = x[i] barrier y[i] = s[sub(sub(m, 1), tx)]""",
        (2, 1, 1),
        (6, 1, 1),
        (drawn(12), np.zeros(12)),
        lambda x, y: (x, x.reshape(2, 6)[:, ::-1].reshape(-1)),
        48,
    ),
    "local arrays": Program(
        "n: i64; x: f64 buffer [4, n]; y: f64 buffer [4, n]",
        """alloc a: f64 local [n] [n]
        for i in 0 .. n sequential { a[i] = x[tx, i] }
        for i in 0 .. n sequential { y[tx, i] = a[sub(sub(n, 1), i)] }
        fill a [n] = 1.0
        copy y [0] = x
        fence""",
        (1, 1, 1),
        (4, 1, 1),
        (5, drawn(4, 5), np.zeros((4, 5))),
        lambda n, x, y: (x, x[:, ::-1]),
    ),
    "one element of many readers, written behind a barrier": Program(
        "x: f64 buffer; y: f64 buffer",
        """alloc s: f64 shared [1] if eq(tx, 7) { s[0] = x[0] } barrier
        for k in 0 .. 4 sequential {
          y[tx] = add(y[tx], s[0]) barrier
          if eq(tx, k) { s[0] = mul(s[0], 2.0) } barrier
        }""",
        (1, 1, 1),
        (70, 1, 1),
        (np.ones(1), np.zeros(70)),
        lambda x, y: (x, np.full(70, 15.0)),
    ),
}


def _divergent() -> list[int]:
    """Lane l counts l % 3 + 1 rounds; in each it adds the lanes of its parity that are there."""
    rounds = [lane % 3 + 1 for lane in range(6)]
    total = [
        sum(
            sum(1 << other for other in range(lane % 2, 6, 2) if rounds[other] > count)
            for count in range(rounds[lane])
        )
        for lane in range(6)
    ]
    return [one - total[0] for one in total]
