"""The words of `Prim.facts`: algebra that holds for every value, so that a pass may rely on it.

| word | meaning |
|---|---|
| `commutative` | f(x, y) = f(y, x) |
| `associative` | f(f(x, y), z) = f(x, f(y, z)) on integers and bools; on floats up to rounding |
| `idempotent` | f(x, x) = x |
| `involution` | f(f(x)) = x |
| `projection` | f(f(x)) = f(x) |
| `odd` | f(-x) = -f(x), on signed types |
| `even` | f(-x) = f(x), on signed types |
| `comparison` | two values of one type give a bool |
| `pole` | a partial may be infinite or NaN where the arguments are finite |
"""

from __future__ import annotations

NONE: frozenset[str] = frozenset()
COMMUTATIVE = frozenset({"commutative"})
SEMIGROUP = frozenset({"commutative", "associative"})
LATTICE = frozenset({"commutative", "associative", "idempotent"})
INVOLUTION = frozenset({"involution"})
ODD_INVOLUTION = frozenset({"involution", "odd"})
ODD = frozenset({"odd"})
EVEN = frozenset({"even"})
PROJECTION = frozenset({"projection"})
ODD_PROJECTION = frozenset({"projection", "odd"})
EVEN_PROJECTION = frozenset({"projection", "even"})
COMPARISON = frozenset({"comparison"})
SYMMETRIC_COMPARISON = frozenset({"comparison", "commutative"})
POLE = frozenset({"pole"})
ODD_POLE = frozenset({"odd", "pole"})
EVEN_POLE = frozenset({"even", "pole"})
