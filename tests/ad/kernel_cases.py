"""Kernels whose derivatives need something of the primal: products, loops, overwritten memory, tiles."""

from __future__ import annotations

import numpy as np

from tests.kernel_ir.kernels import INDEX, Program

RANDOM = np.random.default_rng(5)


def case(
    params: str,
    body: str,
    *args: object,
    grid: tuple[int, int, int] = (3, 1, 1),
    block: tuple[int, int, int] = (4, 1, 1),
    shared: int = 0,
) -> Program:
    """A launch whose values are random floats: arrays say shapes and integers only."""
    return Program(params, body, grid, block, args, lambda *_: (), shared)


def _each(body: str) -> str:
    return f"{INDEX} if lt(i, n) {{ {body} }}"


def zeros(*shape: int) -> object:
    """A place for floats."""
    return np.zeros(shape)


CASES: dict[str, Program] = {
    "a map": case(
        "n: i64; a: f64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("y[i] = add(y[i], mul(a, sin(x[i])))"),
        *(10, 1.0, zeros(10), zeros(10)),
    ),
    "in place": case(
        "n: i64; x: f64 buffer [n]",
        _each("x[i] = mul(x[i], exp(x[i])) x[i] = sqrt(x[i])"),
        *(10, zeros(10)),
    ),
    "a loop in place": case(
        "n: i64; x: f64 buffer [n]",
        _each("for k in 0 .. 3 sequential { x[i] = sin(mul(x[i], exp(x[i]))) }"),
        *(10, zeros(10)),
    ),
    "a product of run-time length": case(
        "n: i64; m: i64; x: f64 buffer [n, m]; y: f64 buffer [n]",
        _each("""alloc p: f64 local [1] p[0] = 1.0
        for k in 0 .. m sequential { p[0] = mul(p[0], x[i, k]) }
        y[i] = p[0]"""),
        *(10, 4, zeros(10, 4), zeros(10)),
    ),
    "ragged loops": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""alloc p: f64 local [1] p[0] = x[i]
        for k in 0 .. i sequential { for j in k .. i sequential {
          let q: f64 = p[0]
          if gt(q, 0.5) { p[0] = mul(q, sin(q)) } else { p[0] = add(0.5, cos(q)) }
        } }
        y[i] = p[0]"""),
        *(7, zeros(7), zeros(7)),
    ),
    "a choice in each run of a ragged loop": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""alloc p: f64 local [1] p[0] = 0.0
        for k in 0 .. i sequential {
          alloc m: f64 local [1]
          if gt(x[k], 0.7) { m[0] = sin(x[k]) } else {
            alloc w: f64 local [1]
            if gt(x[k], 0.5) { w[0] = exp(x[k]) } else { w[0] = mul(x[k], x[i]) }
            m[0] = mul(w[0], w[0])
          }
          p[0] = add(p[0], mul(m[0], m[0]))
        }
        y[i] = p[0]"""),
        *(9, zeros(9), zeros(9)),
    ),
    "an array of each run of a ragged loop": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""alloc p: f64 local [1] p[0] = 0.0
        for k in 0 .. i sequential {
          alloc m: f64 local [3]
          for j in 0 .. 3 sequential { m[j] = mul(x[k], x[j]) }
          for j in 0 .. 3 sequential { p[0] = add(p[0], mul(m[j], m[mod(add(i, j), 3)])) }
        }
        y[i] = p[0]"""),
        *(9, zeros(9), zeros(9)),
    ),
    "an array that a loop changes in each run": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""alloc p: f64 local [1] p[0] = 0.0
        for k in 0 .. i sequential {
          alloc m: f64 local [1]
          m[0] = x[k]
          for j in 0 .. 3 sequential { let w: f64 = m[0] m[0] = mul(w, sin(w)) }
          if gt(m[0], 0.3) { m[0] = mul(m[0], m[0]) }
          p[0] = add(p[0], mul(m[0], m[0]))
        }
        y[i] = p[0]"""),
        *(7, zeros(7), zeros(7)),
    ),
    "a loop until it is small": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""alloc p: f64 local [1] p[0] = x[i]
        while { let v: f64 = p[0] } test gt(v, 0.01) {
          let q: f64 = p[0]
          p[0] = mul(q, mul(0.7, sin(q)))
        }
        y[i] = add(p[0], mul(x[i], p[0]))"""),
        *(10, zeros(10), zeros(10)),
    ),
    "while in while": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""alloc p: f64 local [1] p[0] = x[i] alloc c: i64 local [1] c[0] = 0
        while { } test lt(c[0], 3) {
          alloc d: i64 local [1] d[0] = 0
          while { } test lt(d[0], add(c[0], i)) {
            p[0] = sin(add(p[0], mul(p[0], p[0])))
            d[0] = add(d[0], 1)
          }
          c[0] = add(c[0], 1)
        }
        y[i] = p[0]"""),
        *(5, zeros(5), zeros(5)),
    ),
    "a weighted histogram": case(
        "n: i64; w: f64 buffer [n]; at: i64 buffer [n]; y: f64 buffer",
        _each("atomic add y[at[i]] = mul(w[i], w[i])"),
        *(10, zeros(10), np.arange(10) ** 2 % 4, zeros(4)),
    ),
    "a gather": case(
        "n: i64; x: f64 buffer; at: i64 buffer [n]; y: f64 buffer [n]",
        _each("y[i] = mul(x[at[i]], x[at[i]])"),
        *(10, zeros(4), np.arange(10) ** 2 % 4, zeros(10)),
    ),
    "a stencil with a halo": case(
        "n: i64; x: f64 buffer; y: f64 buffer [n]",
        f"""alloc s: f64 shared [6] {INDEX}
        s[add(tx, 1)] = x[add(i, 1)]
        if eq(tx, 0) {{ s[0] = x[i] s[5] = x[add(i, 5)] }}
        barrier
        y[i] = mul(s[tx], mul(s[add(tx, 1)], s[add(tx, 2)]))""",
        *(12, zeros(14), zeros(12)),
    ),
    "a product of matrices by tiles": case(
        "n: i64; a: f64 buffer [n, n]; b: f64 buffer [n, n]; c: f64 buffer [n, n]",
        """alloc s: f64 shared [2, 2] [4] alloc t: f64 shared [2, 2] [4]
        let i: i64 = add(mul(gy, 2), ty) let j: i64 = add(mul(gx, 2), tx)
        alloc p: f64 local [1] p[0] = 0.0
        for m in 0 .. truncdiv(n, 2) sequential {
          s[ty, tx] = a[i, add(mul(m, 2), tx)]
          t[ty, tx] = b[add(mul(m, 2), ty), j]
          barrier
          for k in 0 .. 2 sequential { p[0] = add(p[0], mul(s[ty, k], t[k, tx])) }
          barrier
        }
        c[i, j] = p[0]""",
        *(6, zeros(6, 6), zeros(6, 6), zeros(6, 6)),
        grid=(3, 3, 1),
        block=(2, 2, 1),
    ),
    "shared memory in turns": case(
        "x: f64 buffer; y: f64 buffer",
        f"""alloc s: f64 shared [4] {INDEX} s[tx] = x[i]
        for k in 0 .. 3 sequential {{
          barrier
          let v: f64 = mul(s[mod(add(tx, 1), 4)], sin(s[tx]))
          barrier
          s[tx] = v
        }}
        y[i] = s[tx]""",
        *(zeros(12), zeros(12)),
    ),
    "one step after the other in global memory": case(
        "n: i64; x: f64 buffer [n]",
        """for k in 0 .. 3 sequential {
          let v: f64 = mul(x[tx], x[mod(add(tx, 1), n)])
          barrier
          x[tx] = v
          barrier
        }""",
        *(6, zeros(6)),
        grid=(1, 1, 1),
        block=(6, 1, 1),
    ),
    "bins in shared memory": case(
        "n: i64; x: f64 buffer [n]; at: i64 buffer [n]; y: f64 buffer",
        f"""alloc s: f64 shared [3] if lt(tx, 3) {{ s[tx] = 0.0 }} barrier
        {_each("atomic add s[at[i]] = mul(x[i], x[i])")}
        barrier
        if lt(tx, 3) {{ let v: f64 = s[tx] atomic sub y[tx] = mul(v, v) }}""",
        *(11, zeros(11), np.arange(11) % 3, zeros(3)),
    ),
    "shuffles of products": case(
        "x: f64 buffer; y: f64 buffer",
        """let v: f64 = mul(x[tx], x[tx])
        warp up -1, v, 3 -> a: f64 warp down -1, v, 1 -> b: f64 warp xor -1, v, 5 -> c: f64
        warp shuffle -1, v, mod(mul(tx, tx), 40) -> d: f64
        y[tx] = add(mul(a, b), mul(c, d))""",
        *(zeros(40), zeros(40)),
        grid=(1, 1, 1),
        block=(40, 1, 1),
    ),
    "shuffles of a part of the warp": case(
        "x: f64 buffer; y: f64 buffer",
        """if lt(tx, 8) {
          warp up 255, x[tx], 2 -> a: f64 warp shuffle 255, x[tx], mod(add(tx, 3), 8) -> d: f64
          y[tx] = mul(a, d)
        } else {
          warp xor -256, x[tx], 3 -> c: f64
          y[tx] = mul(c, c)
        }""",
        *(zeros(12), zeros(12)),
        grid=(1, 1, 1),
        block=(12, 1, 1),
    ),
    "a sum by shuffles in a loop": case(
        "x: f64 buffer; y: f64 buffer",
        f"""{INDEX} alloc v: f64 local [1] alloc d: i64 local [1]
        v[0] = mul(x[i], x[i]) d[0] = 16
        while {{ }} test gt(d[0], 0) {{
          warp xor -1, v[0], d[0] -> w: f64
          v[0] = add(v[0], mul(0.5, mul(w, v[0])))
          d[0] = truncdiv(d[0], 2)
        }}
        if eq(mod(tx, 32), 0) {{ atomic add y[0] = v[0] }}""",
        *(zeros(64), zeros(1)),
        grid=(2, 1, 1),
        block=(32, 1, 1),
    ),
    "local arrays": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""alloc a: f64 local [4] [4]
        for k in 0 .. 4 sequential { a[k] = mul(x[i], to_f64(add(k, 1))) }
        for k in 1 .. 4 sequential { a[k] = mul(a[k], a[sub(k, 1)]) }
        y[i] = add(a[3], a[1])"""),
        *(10, zeros(10), zeros(10)),
    ),
    "a loop over the grid": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        f"""{INDEX} alloc k: i64 local [1] k[0] = i
        while {{ }} test lt(k[0], n) {{
          let j: i64 = k[0]
          y[j] = mul(x[j], sin(x[j]))
          k[0] = add(j, mul(nx, dx))
        }}""",
        *(40, zeros(40), zeros(40)),
    ),
    "barriers in a branch that all take": case(
        "n: i64; x: f64 buffer; y: f64 buffer",
        f"""alloc s: f64 shared [4] {INDEX}
        if gt(n, 3) {{
          s[tx] = mul(x[i], x[i]) barrier
          let v: f64 = mul(s[sub(3, tx)], s[tx]) barrier
          s[tx] = v
        }} else {{ s[tx] = x[i] }}
        barrier
        y[i] = mul(s[tx], s[0])""",
        *(5, zeros(12), zeros(12)),
    ),
    "poles and choices": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer [n]",
        _each("""let v: f64 = sub(x[i], x[i])
        let r: f64 = select(gt(v, 0.0), sqrt(v), mul(x[i], x[i]))
        y[i] = mul(r, to_f64(i))"""),
        *(10, zeros(10), zeros(10)),
    ),
    "two directions": case(
        "n: i64; m: i64; x: f64 buffer [n, m]; r: f64 buffer [n]; c: f64 buffer [m]",
        """let i: i64 = add(mul(gy, dy), ty) let j: i64 = add(mul(gx, dx), tx)
        if and(lt(i, n), lt(j, m)) { let v: f64 = mul(x[i, j], mul(r[i], c[j])) x[i, j] = mul(v, v) }""",
        *(5, 7, zeros(5, 7), zeros(5), zeros(7)),
        grid=(4, 2, 1),
        block=(2, 3, 1),
    ),
    "the largest of all": case(
        "n: i64; x: f64 buffer [n]; y: f64 buffer; z: f64 buffer",
        _each("let v: f64 = mul(x[i], x[i]) atomic max y[0] = v atomic min z[mod(i, 2)] = sin(v)"),
        *(10, zeros(10), zeros(1), zeros(2)),
    ),
    "extrema in loops": case(
        "n: i64; m: i64; x: f64 buffer [n, m]; y: f64 buffer [m]; w: f64 buffer [n]",
        _each("""for k in 0 .. m sequential {
          let v: f64 = mul(x[i, k], w[i])
          if gt(v, 0.2) { atomic max y[mod(mul(k, 2), m)] = v }
        }"""),
        *(7, 5, zeros(7, 5), zeros(5), zeros(7)),
    ),
    "the largest of each block": case(
        "x: f64 buffer; y: f64 buffer",
        f"""alloc s: f64 shared [2] {INDEX} if lt(tx, 2) {{ s[tx] = -inf }} barrier
        let v: f64 = mul(x[i], x[i])
        atomic max s[mod(tx, 2)] = v
        barrier
        y[i] = div(exp(sub(v, s[0])), s[1])""",
        *(zeros(12), zeros(12)),
    ),
}
