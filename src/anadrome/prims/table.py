"""The table of scalar operations: every row of the rooms beside this file, by name.

Every row is total: on any value of its types it gives some value and never traps, so that it may run where
its result is not used.

Conventions at the corners, the same in every mode:

| where | derivative |
|---|---|
| `abs` at 0, `sign`, `floor`, `ceil`, `round`, `trunc`, `floordiv` | 0 |
| `min`, `max` at a tie | the first argument has all of it; so has a NaN against a number |
| `sqrt`, `cbrt` at 0 | ∞, as IEEE division says |
| `log`, `log1p`, `asin`, `acos`, `acosh`, `atanh` at the end of their interval | ±∞, likewise |
| `pow`, by x, where y = 0 | 0 for every x, also x = 0 |
| `pow`, by x, at x = 0 | y·0^(y-1): 0 for y > 1, 1 for y = 1, ∞ for 0 < y < 1 |
| `pow`, by y, at x = 0 | 0 for y ≥ 0 (0^0 counts as flat), -∞ for y < 0 |
| `pow`, by y, where x < 0 | NaN: there is no derivative; by x it is right for whole y |
| `atan2`, `hypot` at the origin | (0, 0) |
| `copysign`, by the sign | 0; by x at 0: 0, as `abs` |
| `mod`, `fmod` by y | minus the whole quotient |
| `lgamma` at 0, -1, … | that of `digamma`: -∞ at 0, NaN below |
| `gamma` | Γ·ψ: -∞ at 0, NaN at -1, -2, … |
| `yv`, `kv` and their kin at 0 | ∞, -∞ |
| `ive` and its kin at 0, of order 0 | 0, as `abs` |
| `xlogy`, `xlog1py` | by x: the logarithm, -∞ at its zero; by y at x = 0: 0, for every y |
| `entr` at 0, `rel_entr` by x at 0 | ∞, -∞ |
| `ndtri`, `erfinv`, `erfcinv`, `logit` at the ends of their interval | ±∞ |
| `gammainc`, `gammaincc`, `betainc`, `betaincc` by x at 0 | 0, ± the density there, or ±∞ |
| `jv`, `yv`, `iv`, `kv`, `ive`, `kve` by the order | none: refused |
| `betainc`, `betaincc` by their parameters | none: refused |
| `whole`, a count of a discrete distribution | none: refused |
| a zero tangent or cotangent at any of these infinities | 0: what nobody reads does not matter |
| `select` | the chosen argument has all of it; a NaN of the other does not leak |
"""

from __future__ import annotations

from anadrome.prims import (
    arithmetic,
    barrier,
    bessel,
    convert,
    entropy,
    integer,
    logic,
    normal,
    rounding,
    special,
    transcendental,
)
from anadrome.prims.record import Prim

PRIMS: dict[str, Prim] = {
    row.name: row
    for family in (
        *(arithmetic, logic, integer, rounding, transcendental),
        *(normal, special, bessel, entropy),
        *(convert, barrier),
    )
    for row in family.ROWS
}
"""Name -> row."""
